"use strict";
// Asks for the numbers every two seconds, and says so when they are old.

const at = id => document.getElementById(id);
const number = value => value === null ? "-" : value.toLocaleString();
const decimal = places => value => value === null ? "-" : value.toFixed(places);
const share = value => value === null ? "-" : `${(100 * value).toFixed(1)} %`;

function table(caption, columns, rows, note = "") {
  const made = document.createElement("section");
  const title = document.createElement("h2");
  title.textContent = caption;
  const grid = document.createElement("table");
  const head = grid.createTHead().insertRow();
  for (const [name, , isText] of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    if (isText) cell.className = "left";
    head.append(cell);
  }
  const body = grid.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [, value, isText] of columns) {
      const cell = line.insertCell();
      cell.textContent = value(row);
      if (isText) cell.className = "left";
    }
  }
  const wide = document.createElement("div");
  wide.className = "table";
  wide.append(grid);
  made.append(title, wide);
  if (note) {
    const words = document.createElement("p");
    words.className = "soft";
    words.textContent = note;
    made.append(words);
  }
  return made;
}

const verdict = row => row.acceptable === null ? "undefined: one grade only" : row.acceptable ? "acceptable" : "below 2/3";

function draw(found) {
  at("bar").max = Math.max(1, found.pairs);
  at("bar").value = found.judged;
  at("whole").textContent = `${number(found.judged)} of ${number(found.pairs)} documents judged by somebody, `
    + `${number(found.queries_done)} of ${number(found.queries)} queries complete`;
  const made = found.precision ? [precision(found.precision)] : [];
  made.push(table("Judges", [
    ["judge", row => row.judge], ["judged", row => number(row.done)], ["of", row => number(row.total)],
    ["skipped", row => number(row.skipped)], ["median seconds", row => decimal(1)(row.seconds)],
    ["under 0.5 s", row => number(row.hasty)], ["notes", row => number(row.notes)],
  ], found.judges));
  made.push(table("Grades", [["grade", row => `${row.grade} ${row.name}`], ["given", row => number(row.count)]], found.grades));
  if (found.agreement.length) made.push(table("Agreement", [
    ["judges", row => `${row.a} and ${row.b}`], ["both judged", row => number(row.pairs)],
    ["same grade", row => share(row.agreement)], ["Scott's pi", row => decimal(3)(row.scott)],
    ["Cohen's kappa", row => decimal(3)(row.cohen)], ["", verdict, true],
  ], found.agreement, "Values of pi or kappa in [2/3, 1] are seen as acceptable; below, the way of judging needs another "
    + "look: what the grades mean, which queries are unclear, what the judges were shown."));
  made.push(table("Form of presentation", [
    ["shown", row => row.form || "-"], ["judgments", row => number(row.judgments)],
    ["median seconds", row => decimal(1)(row.seconds)], ["text opened", row => number(row.opened)],
    ["compared", row => number(row.shared)], ["same grade", row => share(row.agreement)],
  ], found.forms, "Compared: with the grade of another judge for the same document, in whichever form."));
  at("tables").replaceChildren(...made);
}

const places = count => Math.round(count).toLocaleString();
const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A step of 1, 2 or 5 times a power of ten, for about four ticks.
function tick(most) {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  return [1, 2, 5, 10].map(one => one * power).find(step => most / step <= 5);
}

// The half-widths of one measure: computed ones as a line, expected ones dashed, the one to reach across.
function curve(one, found, target) {
  const narrow = matchMedia("(max-width: 34rem)").matches;
  const W = narrow ? 360 : 640, H = 240, left = 46, right = 12, top = 14, bottom = 46;
  const values = [...one.points, ...one.ahead].map(point => point[1]);
  const most = Math.max(...values, target ?? 0) * 1.08;
  const x = count => left + (W - left - right) * count / found.pairs;
  const y = value => H - bottom - (H - top - bottom) * value / most;
  const path = points => points.map(([count, value], place) => `${place ? "L" : "M"}${x(count).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const made = shape("svg", { viewBox: `0 0 ${W} ${H}`, class: "curve", role: "img",
    "aria-label": `half-width of ${one.measure} by pairs judged` });
  const up = tick(most), along = tick(found.pairs);
  for (let value = 0; value <= most; value += up) {
    made.append(shape("line", { x1: left, x2: W - right, y1: y(value), y2: y(value), class: "grid" }));
    made.append(shape("text", { x: left - 8, y: y(value) + 5, "text-anchor": "end" }, Number(value.toPrecision(6)).toString()));
  }
  for (let count = 0; count <= found.pairs; count += along)
    made.append(shape("text", { x: x(count), y: H - bottom + 20, "text-anchor": "middle" }, places(count)));
  made.append(shape("text", { x: (left + W - right) / 2, y: H - 5, "text-anchor": "middle" }, "pairs judged, in the order of the pool"));
  for (const look of target === null ? [] : found.stopping.looks)
    made.append(shape("line", { x1: x(look), x2: x(look), y1: H - bottom - 6, y2: H - bottom + 4, class: "look" }));
  if (target !== null) made.append(shape("line", { x1: left, x2: W - right, y1: y(target), y2: y(target), class: "target" }));
  made.append(shape("path", { d: path(one.ahead), class: "ahead" }), shape("path", { d: path(one.points), class: "reached" }));
  for (const [count, value] of one.points) made.append(shape("circle", { cx: x(count), cy: y(value), r: 3, class: "point" }));
  return made;
}

function paragraph(text, className = "") {
  const made = document.createElement("p");
  made.textContent = text;
  made.className = className;
  return made;
}

function precision(found) {
  const width = decimal(4), rule = found.stopping, made = document.createElement("section");
  const title = document.createElement("h2");
  title.textContent = "Precision";
  made.append(title);
  const gaps = [found.skipped ? `${number(found.skipped)} of them skipped` : "",
    found.beyond ? `${number(found.beyond)} judged beyond the first that is missing do not count yet` : ""].filter(Boolean);
  made.append(paragraph(`${number(found.front)} of ${number(found.pairs)} pairs in the order of the pool`
    + (gaps.length ? `; ${gaps.join("; ")}` : "") + "."));
  if (rule) {
    const last = rule.taken.at(-1), next = rule.looks[rule.taken.length];
    made.append(paragraph(`Stopping rule: ${rule.rule}, looked at after ${rule.looks.map(number).join(", ")} pairs. `
      + (rule.stopped ? `Reached after ${number(last.pairs)} pairs: ${width(last.half_width)}.`
        : last ? `At the last look, after ${number(last.pairs)} pairs: ${width(last.half_width)}.` : "No look yet.")
      + (rule.stopped || !next ? "" : ` Next look after ${number(next)}.`)
      + (rule.used ? "" : " It is not applied: the page was started without it."), rule.stopped ? "reached" : ""));
  }
  made.append(table("", [["measure", row => row.measure], ["half-width now", row => width(row.now)],
    ["after pairs", row => number(row.at)], ["expected at the end", row => width(row.end)]], found.measures).querySelector(".table"));
  for (const one of found.measures) {
    if (one.reason) made.append(paragraph(`${one.measure}: no interval now (${one.reason}).`, "soft"));
    if (!one.points.length && !one.ahead.length) continue;
    const figure = document.createElement("figure"), words = document.createElement("figcaption");
    const target = rule && rule.rule.startsWith(`${one.measure} `) ? Number(rule.rule.split(" ").at(-1)) : null;
    words.textContent = `Half-width of ${one.measure}` + (target === null ? "" : `; to reach: ${target}`);
    figure.append(words, curve(one, found, target));
    made.append(figure);
  }
  if (found.missing_labels) made.append(paragraph(`The machine labels that the pool names do not exist (${found.missing_labels}): `
    + "half-widths are computed without them.", "soft"));
  const of = found.pair.length ? `of the difference between ${found.pair.join(" and ")}` : `the largest of ${number(found.runs)} pooled runs`;
  made.append(paragraph("Half-width: half the length of the 95 % interval over draws, as of leadline estimate; "
    + `${of}. Dashed: expected from the sampling design. Values of the runs are not shown, so that `
    + "they cannot influence the judging.", "soft"));
  return made;
}

async function ask() {
  try {
    const answer = await fetch("/api/progress", { cache: "no-store" });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    draw(await answer.json());
    at("live").textContent = "live";
    at("live").className = "soft";
  } catch {
    at("live").textContent = "The server does not answer; these numbers are old.";
    at("live").className = "wrong";
  }
  setTimeout(ask, document.hidden ? 10000 : 2000);
}

ask();

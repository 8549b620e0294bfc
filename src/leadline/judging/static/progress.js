"use strict";
// Asks for the numbers every two seconds, and says so when they are old.

const number = value => value === null ? "-" : value.toLocaleString();
const decimal = places => value => value === null ? "-" : value.toFixed(places);
const share = value => value === null ? "-" : `${(100 * value).toFixed(1)} %`;

function table(caption, columns, rows, note = "") {
  const made = document.createElement("section");
  const title = document.createElement("h2");
  title.textContent = caption;
  const grid = document.createElement("table");
  if (columns.length > 4) grid.className = "many";
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
    for (const [name, value, isText] of columns) {
      const cell = line.insertCell();
      cell.textContent = value(row);
      cell.dataset.name = name;
      if (isText) cell.className = "left";
    }
  }
  const wide = document.createElement("div");
  wide.className = "table";
  wide.tabIndex = 0;  // it scrolls on narrow screens, by keyboard too
  wide.setAttribute("role", "region");
  wide.setAttribute("aria-label", caption);
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

const verdict = row => say(row.few ? "verdict_few" : row.acceptable === null ? "verdict_undefined"
  : row.acceptable ? "verdict_acceptable" : "verdict_low");

function draw(found) {
  at("bar").max = Math.max(1, found.pairs);
  at("bar").value = found.judged;
  at("whole").textContent = say("whole", { judged: number(found.judged), pairs: number(found.pairs),
    done: number(found.queries_done), queries: number(found.queries) });
  const made = found.precision ? [precision(found.precision)] : [];
  made.push(table(say("table_judges"), [
    [say("table_judge"), row => row.judge], [say("table_judged"), row => say("status_count", { judged: number(row.done), total: number(row.total) })],
    [say("table_skipped"), row => number(row.skipped)], [say("table_awaited"), row => Object.entries(row.awaited).map(([judge, count]) => say("awaited_of", { count: number(count), judge })).join(", ") || "0"], [say("table_seconds"), row => decimal(1)(row.seconds)],
    [say("table_hasty"), row => number(row.hasty)], [say("table_notes"), row => number(row.notes)],
  ], found.judges));
  made.push(table(say("table_grades"), [[say("table_grade"), row => `${row.grade} ${row.name}`], [say("table_given"), row => number(row.count)]], found.grades));
  if (found.agreement.length) made.push(table(say("table_agreement"), [
    [say("table_pair_of_judges"), row => say("table_pair", row)], [say("table_both"), row => number(row.pairs)],
    [say("table_same"), row => share(row.agreement)], [say("table_pi"), row => decimal(3)(row.scott)],
    [say("table_kappa"), row => decimal(3)(row.cohen)], [say("verdict"), verdict, true],
  ], found.agreement, say("table_agreement_note")));
  if (found.forms.length > 1) made.push(table(say("table_form"), [
    [say("table_shown"), row => row.form || "-"], [say("table_judgments"), row => number(row.judgments)],
    [say("table_seconds"), row => decimal(1)(row.seconds)], [say("table_opened"), row => number(row.opened)],
    [say("table_compared"), row => number(row.shared)], [say("table_same"), row => share(row.agreement)],
  ], found.forms, say("table_form_note")));
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
    "aria-label": say("width_figure", one) });
  const up = tick(most), along = tick(found.pairs);
  for (let value = 0; value <= most; value += up) {
    made.append(shape("line", { x1: left, x2: W - right, y1: y(value), y2: y(value), class: "grid" }));
    made.append(shape("text", { x: left - 8, y: y(value) + 5, "text-anchor": "end" }, Number(value.toPrecision(6)).toString()));
  }
  for (let count = 0; count <= found.pairs; count += along)
    made.append(shape("text", { x: x(count), y: H - bottom + 20, "text-anchor": "middle" }, places(count)));
  made.append(shape("text", { x: (left + W - right) / 2, y: H - 5, "text-anchor": "middle" }, say("width_axis")));
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
  title.textContent = say("width_title");
  made.append(title);
  const gaps = [found.skipped ? say("width_skipped", { count: number(found.skipped) }) : "",
    found.beyond ? say("width_beyond", { count: number(found.beyond) }) : ""].filter(Boolean);
  made.append(paragraph(say("width_front", { count: number(found.front), pairs: number(found.pairs),
    gaps: gaps.map(text => `; ${text}`).join("") })));
  if (rule) {
    const last = rule.taken.at(-1), next = rule.looks[rule.taken.length];
    made.append(paragraph([
      say(rule.looks.length ? "width_rule" : "width_never", { rule: rule.rule, looks: rule.looks.map(number).join(", ") }),
      !rule.looks.length ? "" : last ? say(rule.stopped ? "width_reached" : "width_last", { pairs: number(last.pairs), width: width(last.half_width) })
        : say("width_no_look"),
      rule.stopped || !next ? "" : say("width_next", { pairs: number(next) }),
      rule.used ? "" : say("width_unused")].filter(Boolean).join(" "), rule.stopped ? "reached" : ""));
  }
  made.append(table(say("width_title"), [[say("width_measure"), row => row.measure], [say("width_now"), row => width(row.now)], [say("width_over"), row => width(row.over)],
    [say("width_after"), row => number(row.at)], [say("width_at_end"), row => width(row.end)]], found.measures).querySelector(".table"));
  if (found.verdict) made.append(...found.verdict.words.split("\n").map(text => paragraph(text, "reached")));
  const next = found.looks.find(place => place > (found.verdict ? found.verdict.after : 0));
  // After a rule has stopped judging, no place of a verdict is reached any more.
  if (found.looks.length && !(rule && rule.used && rule.stopped)) made.append(paragraph(next ? say("verdict_next", { pairs: number(next) }) : say("verdict_last"), "soft"));
  for (const one of found.measures) {
    if (one.reason) made.append(paragraph(say("width_no_interval", one), "soft"));
    if (!one.points.length && !one.ahead.length) continue;
    const figure = document.createElement("figure"), words = document.createElement("figcaption");
    const target = rule && rule.rule.startsWith(`${one.measure} `) ? Number(rule.rule.split(" ").at(-1)) : null;
    words.textContent = say(target === null ? "width_caption" : "width_caption_target", { measure: one.measure, target });
    figure.append(words, curve(one, found, target));
    made.append(figure);
  }
  if (found.missing_labels) made.append(paragraph(say("width_missing_labels", { labels: found.missing_labels }), "soft"));
  const of = found.pair.length ? say("width_of_pair", { a: found.pair[0], b: found.pair[1] })
    : say("width_of_runs", { count: number(found.runs) });
  made.append(paragraph(say("width_note", { of }), "soft"));
  return made;
}

async function ask() {
  try {
    const answer = await fetch("/api/progress", { cache: "no-store" });
    if (!answer.ok) throw Object.assign(new Error(), { said: await reasonOf(answer) });
    draw(await answer.json());
    at("live").textContent = say("live");
    at("live").className = "soft";
  } catch (trouble) {
    at("live").textContent = say("progress_old", { reason: trouble.said ?? say("no_answer") });
    at("live").className = "wrong";
  }
  setTimeout(ask, document.hidden ? 10000 : 2000);
}

ask();

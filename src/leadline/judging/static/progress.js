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
  const made = [table("Judges", [
    ["judge", row => row.judge], ["judged", row => number(row.done)], ["of", row => number(row.total)],
    ["skipped", row => number(row.skipped)], ["median seconds", row => decimal(1)(row.seconds)],
    ["under 0.5 s", row => number(row.hasty)], ["notes", row => number(row.notes)],
  ], found.judges)];
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

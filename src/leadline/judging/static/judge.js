"use strict";
// The judge's queue. A key acts at once on the document that is on the screen, never on one that is not: the next
// ones are here already, and what was done is sent behind the scenes.

const page = document.body.dataset;
const MOST = 480, AT_ONCE = 40, AT_FIRST = 5;
const SHORT = 60;           // characters of a reason that fit beside the progress bar
let full = 200;             // cards to hold, some seconds of typing without reading; more where they ran short
const cards = [];           // what comes next; the first is on the screen unless the judge looks back
const queries = {};
const done = [];            // acts that can be taken back, the oldest first: {key, kind, grade, note, card}
let looking = null;         // the place in `done` that the judge looks at, or null
let ended = false;          // the server has no more cards
let awaited = {};           // how many documents other judges have to judge first, by their names
let left = {};              // how many documents others have, once this judge has none
let asking = false;
let count = { done: 0, total: 0, skipped: 0, version: 0 };
let away = false;           // another window has taken this queue over
let unused = 0;
let skips = 0;
const stage = new Stage();
const outbox = new Outbox(page.store, page.judge, page.secret, fresh => { if (fresh) counted(fresh); status(); }, lost);

function status() {
  const waiting = outbox.acts;
  const ahead = waiting.filter(act => act.kind === "judge").length - waiting.filter(act => act.kind === "undo").length;
  const judged = Math.max(0, Math.min(count.total, count.done + ahead));
  at("bar").max = Math.max(1, count.total);
  at("bar").value = judged;
  at("count").textContent = say("status_count", { judged: judged.toLocaleString(), total: count.total.toLocaleString() })
    + (count.skipped ? ` ${say("skipped_count", { count: count.skipped })}` : "");
  const saved = at("saved");
  if (outbox.trouble && !saved.classList.contains("wrong")) hint(say(outbox.unkept ? "hint_unkept" : "hint_kept"));
  saved.className = outbox.trouble || outbox.refused ? "saved wrong" : waiting.length ? "saved waiting" : "saved";
  const short = outbox.trouble.length <= SHORT;
  saved.textContent = outbox.trouble
    ? say(short ? "status_retrying_why" : "status_retrying", { count: waiting.length, reason: outbox.trouble })
    : outbox.refused ? say("status_refused", { reason: outbox.refused })
    : waiting.length ? say("status_saving", { count: waiting.length }) : outbox.used || count.done ? say("status_saved") : "";
  at("trouble").textContent = short ? "" : say("trouble", { reason: outbox.trouble });
  at("trouble").hidden = short;
  document.body.dataset.unsaved = waiting.length;
  document.body.dataset.unused = unused;
}

function show() {
  const act = looking === null ? null : done[looking];
  const card = act ? act.card : cards[0];
  if (!card) {
    stage.empty(ended ? finished() : Object.keys(awaited).length ? waiting() : say("loading"), ended);
    note("");
    mark(null);
    return;
  }
  const flags = act ? [say(act.kind === "skip" ? "state_skipped" : "state_judged")] : [];
  if (!act && card.before) flags.push(say("state_undone"));
  else if (!act && card.skipped) flags.push(say("state_skipped"));
  stage.show(card, queries[card.query], flags);
  note(act ? act.note : card.note ?? "");
  mark(act ? act.grade : card.before?.grade ?? null);
}

function finished() {
  if (count.stopped) return count.stopped;
  if (!count.total) return say("nothing_to_judge");
  return Object.keys(left).length ? say("finished_left", { documents: named(left, one => say("left_of", one)) }) : say("finished");
}

const named = (counts, words) => Object.entries(counts)
  .map(([judge, count]) => words({ count: count.toLocaleString(), judge })).join(", ");

const waiting = () => say("awaited", { documents: named(awaited, one => say("awaited_of", one)) });

// Takes over the numbers of the server. When judging has been stopped, only what was skipped is still asked for.
function counted(fresh) {
  if (fresh.version < count.version) return;  // answers may cross: this one is from before the last save
  count = fresh;
  if (!count.stopped || cards.every(card => card.skipped)) return;
  cards.splice(0, cards.length, ...cards.filter(card => card.skipped));
  if (looking === null) show();
}

// Shows which grade was given before.
function mark(grade) {
  for (const button of document.querySelectorAll(".grade"))
    button.setAttribute("aria-pressed", grade !== null && Number(button.dataset.grade) === grade);
}

// What the server will never save. A document whose text has changed comes again with its new text.
function lost(act, reason) {
  const place = done.findIndex(one => one.key === act.key);
  if (place >= 0) {
    const gone = done.splice(place, 1)[0];
    if (gone.older) done.splice(place, 0, gone.older);
    looking = null;
    // Others that are here already may be old as well; the one that is being read is refused in its turn.
    cards.splice(cards[0]?.document === gone.card.document ? 0 : 1);
  }
  forget({ pair: act.pair });
  ended = false;
  show();
  hint(say("hint_lost", { reason }), 15000);
  refill();
}

let noted = "";  // what the note was when its document came on the screen

function note(text) {
  at("note").value = noted = text;
  at("noting").hidden = !text;
}

function act(kind, grade = null) {
  const card = stage.card;
  if (!card || away) {
    unused += 1;
    status();
    if (!away && !ended) hint(say("hint_unused"));
    return;
  }
  if (kind === "skip" && looking !== null) { step(1); return; }
  const text = at("note").value.trim();
  at("hint").hidden = true;  // what it says is of the document before
  const made = { kind, grade, note: text, card };
  made.key = send(made);
  leaveNote();
  card.note = kind === "skip" ? text : "";  // a skipped document comes back with its note
  keepDraft(card, card.note);
  forget(card);
  if (looking !== null) {
    const old = done.splice(looking, 1)[0];
    made.older = old;
    looking = null;
  }
  card.before = null;
  done.push(made);
  if (kind === "skip") { card.skipped = true; ended = false; skips += 1; }
  show();
  refill();
}

// Hands an act on the document that is on the screen to the outbox; gives its key.
function send({ kind, grade, note, card }) {
  return outbox.add({ kind, grade, note, pair: card.pair, seconds: stage.seconds, shown: card.form,
    opened: stage.opened, digest: card.digest });
}

function hint(text, time = 4000) {
  at("hint").textContent = text;
  at("hint").hidden = false;
  clearTimeout(hint.timer);
  hint.timer = setTimeout(() => { at("hint").hidden = true; }, time);
}

// Takes a card out of what comes next: one that was skipped may have come back already.
function forget(card) {
  const place = cards.findIndex(one => one.pair === card.pair);
  if (place >= 0) cards.splice(place, 1);
}

function undo() {
  if (away) return;
  if (!done.length) { hint(say("hint_nothing_to_undo")); return; }
  keepNote();
  at("hint").hidden = true;
  const last = done.pop();
  outbox.add({ kind: "undo", pair: last.card.pair, undoes: last.key });
  looking = null;
  if (last.older) {
    done.push(last.older);
    looking = done.length - 1;
  } else {
    forget(last.card);
    cards.unshift(Object.assign(last.card, { before: last, note: last.note }));
    keepDraft(last.card, last.note);
  }
  show();
}

function step(by) {
  if (away) return;
  const place = (looking ?? done.length) + by;
  if (place < 0) { hint(say("hint_at_first")); return; }
  if (place > done.length) { hint(say(stage.card ? "hint_at_last" : "hint_unused")); return; }
  keepNote();
  looking = place === done.length ? null : place;
  show();
}

// Whether the document on the screen has a grade of this judge, and was not skipped.
const judgedBefore = () => looking !== null && done[looking].kind === "judge";

// A note that was begun waits with its document; that of a document judged before is saved with its grade.
function keepNote() {
  const text = at("note").value, card = stage.card;
  leaveNote();
  if (!card || away || text === noted) return;
  noted = text;
  if (!judgedBefore()) {
    for (const one of [card, ...done.filter(one => one.kind === "skip"), ...cards])
      if ((one.card ?? one).pair === card.pair) one.note = text;
    keepDraft(card, text);
    return;
  }
  const older = done.splice(looking, 1)[0];
  const made = { kind: older.kind, grade: older.grade, note: text.trim(), card, older };
  made.key = send(made);
  done.push(made);
  looking = done.length - 1;
}

function leaveNote() { if (document.activeElement === at("note")) at("note").blur(); }

function writeNote() {
  if (!stage.card) return;
  at("noting").hidden = false;
  at("note").focus({ preventScroll: true });
}

// Ends a note, and says what became of it: digits are keys again.
function endNote() {
  const text = at("note").value.trim(), changed = text !== noted.trim();
  keepNote();
  at("noting").hidden = !text;
  if (!stage.card) return;
  const grades = [...document.querySelectorAll(".grade")].map(button => button.dataset.grade);
  const keys = `${grades.slice(0, -1).join(", ")} ${say("or")} ${grades.at(-1)}`;
  if (judgedBefore()) hint(say(!changed ? "note_unchanged" : text ? "note_saved" : "note_removed"));
  else if (!text) hint(say("note_none", { keys }));
  else if (grades.includes(text)) hint(say("note_like_grade", { text, keys }), 8000);
  else hint(say("note_kept", { keys }), 8000);
}

// Notes on documents without a grade are in the browser's own storage until they are saved with one.
const draftOf = card => `leadline note ${page.store} ${encodeURIComponent(page.judge)} ${card.pair}`;

function keepDraft(card, text) {
  try {
    if (text) localStorage.setItem(draftOf(card), text);
    else localStorage.removeItem(draftOf(card));
  } catch { if (text) outbox.unkept = true; }  // storage is off: the note is in this page only
}

function withDraft(card) {
  try { card.note = localStorage.getItem(draftOf(card)) ?? ""; } catch { card.note = ""; }
  return card;
}

const pause = time => new Promise(resolve => setTimeout(resolve, time));

async function refill() {
  if (asking || away || ended || cards.length >= full * 2 / 3) return;
  asking = true;
  let wait = 50;
  while (!away && !ended && cards.length < full) {
    let fresh = 0;
    try {
      fresh = await ask();
      if (done.length && cards.length < full / 2) full = Math.min(MOST, full * 2);
      if (fresh) wait = 50;
    } catch (trouble) {
      if (!stage.card) at("message").textContent = say("loading_failed", { reason: trouble.said ?? say("no_answer") });
      wait = Math.min(5000, wait * 2);
    }
    if (!fresh && !ended) {
      if (cards.length) break;  // more comes after these: the next key asks again
      await pause(wait);
      wait = Math.min(Object.keys(awaited).length ? 3000 : 1000, wait * 1.5);
    }
  }
  asking = false;
}

let opening = true;

// Gives how many cards came.
async function ask() {
  // What an earlier page left behind goes first, so that it can be taken back here.
  while (opening && outbox.acts.length && !outbox.trouble) await pause(20);
  // What was done and is not yet saved is held too: the server still thinks it open.
  const holding = [...cards, ...outbox.acts].map(one => one.pair);
  const skipping = outbox.acts.some(act => act.kind === "skip"), skipped = skips;
  const answer = await outbox.post("/api/cards", { holding, opening, count: Math.min(opening ? AT_FIRST : AT_ONCE, Math.max(1, full - cards.length)) });
  if (!answer.ok) throw Object.assign(new Error(), { said: await reasonOf(answer) });
  const found = await answer.json();
  Object.assign(queries, found.queries);
  cards.push(...found.cards.map(withDraft));
  for (const act of found.acts ?? []) if (act.kind === "skip") act.note = withDraft(act.card).note || act.note;
  if (found.acts) done.unshift(...found.acts);
  opening = false;
  counted(found.count);
  // A skipped document comes back when its skip is saved: until then, and after a later skip, nothing has ended.
  ended = !found.more && !skipping && skips === skipped;
  awaited = found.awaited;
  left = found.left;
  status();
  if (!stage.card && looking === null) show();
  return found.cards.length;
}

function key(event) {
  if (event.target === at("note")) {
    const ends = event.key === "Enter" && !event.shiftKey && !event.altKey || event.key === "Escape";
    if (ends && !event.isComposing) {  // Enter also chooses a word of an input method
      event.preventDefault();
      endNote();
    }
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || at("keys").open) return;
  const grade = document.querySelector(`.grade[data-grade="${/^\d$/.test(event.key) ? event.key : "none"}"]`);
  const does = { u: undo, s: () => act("skip"), n: writeNote, t: () => stage.open(), "?": () => at("keys").showModal(),
    d: () => { if (!at("about").hidden) describe(!isWhole()); },
    ArrowLeft: () => step(-1), ArrowRight: () => step(1) };
  const wanted = grade ? () => act("judge", Number(grade.dataset.grade))
    : does[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!wanted) return;
  event.preventDefault();
  if (!event.repeat) wanted();  // a key held down would judge what nobody has read
}

function begin() {
  document.addEventListener("keydown", key);
  for (const button of document.querySelectorAll(".grade"))
    button.addEventListener("click", () => { act("judge", Number(button.dataset.grade)); button.blur(); });
  for (const [id, what] of Object.entries({ undo, skip: () => act("skip"), write: writeNote,
    back: () => step(-1), forward: () => step(1), help: () => at("keys").showModal(),
    open: () => stage.open(), about: () => describe(!isWhole()) }))
    at(id).addEventListener("click", event => { what(); if (id !== "write") event.currentTarget.blur(); });
  window.addEventListener("beforeunload", event => {
    keepNote();
    // What is on its way is in the browser's storage, and the next page sends it.
    if (outbox.unkept || outbox.trouble && outbox.acts.length) event.preventDefault();
  });
  window.addEventListener("pagehide", () => outbox.leave());
  window.addEventListener("online", () => outbox.hurry());
  // One window a judge: the newest goes on, older ones send what they have and rest.
  const channel = new BroadcastChannel(`leadline ${page.store} ${page.judge}`);
  channel.onmessage = () => {
    away = true;
    stage.empty(say("opened_elsewhere"));
  };
  channel.postMessage("here");
  document.body.dataset.ready = "true";
  status();
  outbox.send();
  refill();
}

begin();

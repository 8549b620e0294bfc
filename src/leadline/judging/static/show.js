"use strict";
// Puts a card on the screen. Text of documents only ever becomes text: no markup is made of it.

function marked(target, pieces) {
  target.replaceChildren(...pieces.map((piece, place) => {
    if (place % 2 === 0) return document.createTextNode(piece);
    const mark = document.createElement("mark");
    mark.textContent = piece;
    return mark;
  }));
}

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

class Stage {
  constructor() {
    this.card = null;
    this.query = null;
    this.opened = false;
    this.loading = null;
    this.since = 0;
    this.before = 0;
    document.addEventListener("visibilitychange", () => this.clock());
    window.addEventListener("resize", () => this.fit());
    this.watcher = new IntersectionObserver(found => {
      if (found.some(entry => entry.isIntersecting)) this.more();
    }, { rootMargin: "1200px" });
  }

  // Whether the text has more than what the summary shows.
  get hasMore() { return this.card.length > 0 && !this.card.complete; }

  // Seconds that the card was on a screen that could be seen.
  get seconds() {
    const now = document.hidden ? 0 : performance.now() - this.since;
    return Math.round(this.before + now) / 1000;
  }

  clock() {
    if (document.hidden) this.before += performance.now() - this.since;
    else this.since = performance.now();
  }

  show(card, query, flags) {
    this.card = card;
    this.before = 0;
    this.since = performance.now();
    this.opened = card.form === "full";
    this.part = 0;
    at("message").textContent = "";
    this.settle(false);
    this.showQuery(query, flags);
    const title = card.title.join("");
    marked(at("title"), title ? card.title : [say("untitled", card)]);
    at("title").classList.toggle("untitled", !title);
    const long = say("long_text", { count: card.length.toLocaleString() });
    at("facts").replaceChildren(
      ...[[say("fact_query"), query.id], [say("fact_document"), card.document], ...card.facts, ...(card.cut ? [[say("long_name"), long]] : [])].flatMap(([name, text]) => [element("span", name, "name"), element("bdi", text)]));
    at("summary").hidden = card.summary === null;
    marked(at("summary"), card.summary === null ? [] : card.summary.join("") ? card.summary : [say("no_text")]);
    at("text").replaceChildren();
    at("full").hidden = true;
    at("open").hidden = this.opened || !this.hasMore;
    this.watcher.disconnect();
    if (this.opened) this.showText(card.text ? card.text : []);
    at("card").hidden = false;
    window.scrollTo(0, 0);
  }

  showQuery(query, flags) {
    const isNew = this.query !== query.id;
    if (isNew) {
      at("query").textContent = query.text || say("query_without_text", { query: query.id });
      at("more").replaceChildren(...query.more.flatMap(([name, text]) => {
        const part = element("p", text);
        part.dir = "auto";
        return [element("h2", name), part];
      }));
      this.described = query.more.length > 0;
      if (!this.described) describe(false);
      at("asked").scrollTop = 0;
      if (this.query !== null) {
        flags = [say("new_query"), ...flags];
        at("query").animate([{ background: "var(--press)" }, { background: "transparent" }], 1500);
      }
      this.query = query.id;
    }
    this.fit();
    at("flags").replaceChildren(...flags.map(text => element("span", text)));
    at("flags").hidden = flags.length === 0;
  }

  // The button for the whole query is there if the query is cut or has a description.
  fit() {
    if (!isWhole()) at("about").hidden = !this.described && at("query").scrollHeight <= at("query").clientHeight;
  }

  // Without a document nothing can be graded; at the end there is nothing left but to look back.
  settle(empty, ended = false) {
    at("grades").disabled = at("skip").disabled = at("write").disabled = empty;
    for (const id of ["need", "grades", "skip", "write", "forward"]) at(id).hidden = ended;
    at("onward").hidden = !ended;
  }

  showText(pieces) {
    at("full").hidden = false;
    if (!this.card.length) {
      at("text").replaceChildren(element("p", say("no_text")));
      return;
    }
    const part = document.createElement("div");
    part.dir = "auto";
    marked(part, pieces);
    at("text").append(part);
    this.part += 1;
    if (this.part >= this.card.parts) return;
    const rest = element("p", "...", "rest");
    at("text").append(rest);
    this.watcher.observe(rest);
  }

  // Parts come when they are nearly on the screen, so that a book is as quick as a page.
  async more() {
    const card = this.card;
    if (!card || this.loading === card) return;
    this.loading = card;
    try {
      const answer = await fetch(`/api/text?pair=${card.pair}&part=${this.part}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      const found = await answer.json();
      if (card !== this.card) return;
      this.watcher.disconnect();
      at("text").querySelector(".rest")?.remove();
      this.showText(found.text);
    } catch {
      if (card === this.card) hint(say("hint_no_text"));
    } finally { if (this.loading === card) this.loading = null; }
  }

  open() {
    if (!this.card || this.opened || !this.hasMore) return;
    this.opened = true;
    at("open").hidden = at("summary").hidden = true;  // the text contains the summary
    at("full").hidden = false;
    this.more();
  }

  empty(message, ended = false) {
    this.card = null;
    at("card").hidden = true;
    this.settle(true, ended);
    if (at("message").textContent !== message) at("message").textContent = message;  // read out once
  }
}

const isWhole = () => at("asked").classList.contains("whole");

function describe(wanted) {
  at("asked").classList.toggle("whole", wanted);
  at("asked").tabIndex = wanted ? 0 : -1;  // it may scroll
  at("more").hidden = !wanted;
  at("about").setAttribute("aria-expanded", wanted);
  at("about").textContent = say(wanted ? "less" : "more");
}

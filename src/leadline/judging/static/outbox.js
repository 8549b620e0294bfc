"use strict";
// What was judged and is not yet on the server's disk. Every act is in the browser's own storage before the page
// goes on, is sent in order, and leaves the storage only when the server has said that it is saved. The server keeps
// an act of the same key once, so that sending twice does no harm.

const SMALL = 20000;  // characters; browsers send no more than 64 KiB for a page that was left

class Outbox {
  // onLost(act, reason) is told of an act that the server will never save.
  constructor(store, judge, secret, onChange, onLost) {
    this.prefix = `leadline ${store} ${judge} `;
    this.onLost = onLost;
    this.judge = judge;
    this.secret = secret;
    this.onChange = onChange;
    this.trouble = "";
    this.wait = 0;
    this.sending = false;
    this.unkept = false;  // the browser's storage is off or full
    this.acts = this.kept();
    this.used = this.acts.length > 0;
    // Acts are sent in the order of these numbers, also when the clock was put back since the last page.
    this.number = Math.max(Date.now() * 1000, ...this.acts.map(act => act.number));
  }

  // Whether a name in the storage is of this judge. The rest of the name must be a key and nothing else: the names
  // of judge "ann lee" begin as those of judge "ann" do.
  isOwn(name) {
    return name.startsWith(this.prefix) && /^[0-9a-f]{32}$/.test(name.slice(this.prefix.length));
  }

  // What an earlier page left behind, the oldest first.
  kept() {
    const found = [];
    try {
      for (let place = 0; place < localStorage.length; place++) {
        const name = localStorage.key(place);
        if (this.isOwn(name)) found.push(JSON.parse(localStorage.getItem(name)));
      }
    } catch { /* storage may be switched off: then a crash of the browser can lose what was not sent */ }
    return found.sort((a, b) => a.number - b.number);
  }

  static key() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join("");
  }

  add(act) {
    const kept = { key: Outbox.key(), number: ++this.number, given: new Date().toISOString(), ...act };
    try { localStorage.setItem(this.prefix + kept.key, JSON.stringify(kept)); } catch { this.unkept = true; }
    this.acts.push(kept);
    this.used = true;
    this.onChange();
    this.send();
    return kept.key;
  }

  drop(keys) {
    for (const key of keys) {
      try { localStorage.removeItem(this.prefix + key); } catch { /* nothing was kept */ }
    }
    const gone = new Set(keys);
    this.acts = this.acts.filter(act => !gone.has(act.key));
  }

  async post(address, values) {
    const body = JSON.stringify({ judge: this.judge, ...values });
    return fetch(address, {
      method: "POST", body, cache: "no-store",
      headers: { "Content-Type": "application/json", "X-Leadline": this.secret },
      keepalive: body.length < SMALL,  // it arrives although the page is left
      signal: AbortSignal.timeout(20000),
    });
  }

  save(acts) {
    return this.post("/api/events", { events: acts.map(({ number, ...act }) => act) });
  }

  // The page is left: what waits for an answer to an earlier request is sent at once.
  leave() { if (this.acts.length) this.save(this.acts.slice(0, 50)).catch(() => {}); }

  async send() {
    if (this.sending) return;
    this.sending = true;
    while (this.acts.length) {
      if (await this.sent(this.acts.slice(0, this.single ? 1 : 50))) continue;
      this.onChange();
      await new Promise(done => { this.wake = done; setTimeout(done, this.wait); });
    }
    this.sending = false;
  }

  async sent(acts) {
    let answer, said = "";
    try {
      answer = await this.save(acts);
      if (answer.ok) {
        const found = await answer.json();
        const saved = new Set(found.saved);
        if (!acts.some(act => saved.has(act.key))) throw new Error();  // not an answer of the judging page
        this.drop(found.saved);
        if (!this.acts.length) this.unkept = false;
        this.trouble = "";
        this.wait = 0;
        this.single = false;
        this.onChange(found.count);
        return true;
      }
      said = await reasonOf(answer);
    } catch { said = say("no_answer"); }
    if (answer && answer.status === 409 && acts.length === 1) {  // its text has changed, or its key is another's: it can never be saved
      this.drop([acts[0].key]);
      this.onLost(acts[0], said);
      this.onChange();
      return true;
    }
    if (answer && (answer.status === 400 || answer.status === 409)) {  // one of them is what no server can keep: find it, and go on
      if (acts.length > 1) { this.single = true; return true; }
      this.acts = this.acts.filter(act => act.key !== acts[0].key);
      this.refused = said;
      this.onChange();
      return true;
    }
    this.trouble = said;
    this.wait = Math.min(5000, Math.max(250, this.wait * 2));
    return false;
  }

  hurry() { this.wait = 250; if (this.wake) this.wake(); }
}

/* Pages that are opened from a disk may not start workers; the search then runs in a hidden frame instead. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      const waiting = [];
      frame.hidden = true;
      this.post = (data) => waiting.push(data);
      frame.addEventListener("load", () => {
        const inside = frame.contentWindow;
        if (this.loaded || !inside) return;
        this.loaded = true;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inside.importScripts = (...urls) =>
          Promise.all(urls.map((one) => new Promise((done) => this.script(inside, one).addEventListener("load", done))));
        this.script(inside, url).addEventListener("load", () => {
          this.post = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
          waiting.forEach((data) => this.post(data));
        });
      });
      document.documentElement.append(frame);
    }

    script(inside, url) {
      const script = inside.document.createElement("script");
      script.src = url;
      inside.document.body.append(script);
      return script;
    }

    postMessage(data) {
      this.post(data);
    }
  };
  window.Worker = window.IFrameWorker;
}

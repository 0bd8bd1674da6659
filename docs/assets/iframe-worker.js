// A browser starts no worker for a page that was opened from a folder. The search then runs in a hidden frame instead.
// (The name matters: without a script of this name the site's builder would link to one on a server.)
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.postMessage = (data) => setTimeout(() => this.onmessage?.({ data }));
      this.loaded = new Promise((resolve) => {
        const script = this.inside.document.createElement("script");
        script.src = new URL(address, document.baseURI);
        script.onload = resolve;
        script.onerror = (error) => this.onerror?.(error);
        this.inside.document.body.append(script);
      });
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.onmessage?.({ data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}

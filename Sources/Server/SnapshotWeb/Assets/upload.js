"use strict";

// Uploads a bundle with tus, so that an interrupted upload continues where it stopped, also after the page is loaded
// again. Without this script, the form sends the bundle in one request.

for (const form of document.querySelectorAll("form[data-uploads]")) makeResumable(form);

function makeResumable(form) {
  const part = (name) => form.querySelector(`[data-${name}]`);
  const input = form.querySelector("[type=file]"), bar = form.querySelector("progress");
  const maximumAttempts = 10, longestPause = 30;
  let running = null;

  part("hint").hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.files.length === 1) upload(input.files[0]);
  });
  part("cancel").addEventListener("click", () => running?.abort());

  // A file that is dropped elsewhere on the page would replace the page.
  addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = running ? "none" : "copy";
    form.parentElement.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.parentElement.classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    form.parentElement.classList.remove("dropping");
    const files = event.dataTransfer.files;
    if (running) return;
    if (files.length !== 1) return say("Drop one ZIP file.", true);
    input.files = files;
    form.scrollIntoView({block: "nearest"});
    upload(files[0]);
  });

  async function upload(file) {
    if (running) return;
    running = new AbortController();
    for (const button of form.querySelectorAll("button:not([data-cancel])")) button.disabled = true;
    part("progress").hidden = false;
    show(0, file);
    say("Uploading …");
    try {
      location.assign(await send(file, running.signal));
    } catch (error) {
      say(running.signal.aborted ? "The upload was cancelled." : error.message, !running.signal.aborted);
      part("progress").hidden = true;
    }
    for (const button of form.querySelectorAll("button")) button.disabled = false;
    running = null;
  }

  // Returns the address of the page of the uploaded snapshot.
  async function send(file, signal) {
    const key = ["upload", form.dataset.report, file.name, file.size, file.lastModified].join("\n");
    let state = null, attempts = 0;
    for (;;) {
      try {
        const known = state?.address ?? localStorage.getItem(key);
        state = await (known ? resume(known, signal) : create(file, signal));
        if (!state) {
          localStorage.removeItem(key);
          continue;
        }
        localStorage.setItem(key, state.address);
        const start = state.offset;
        if (!state.page) {
          state = await append(state, file, signal, (offset) => {
            // An attempt that sends bytes is not in vain.
            if (offset > start) attempts = 0;
            show(offset, file);
          });
        }
        if (state.page) {
          localStorage.removeItem(key);
          return state.page;
        }
      } catch (error) {
        if (signal.aborted) {
          if (state) request("DELETE", state.address).catch(() => {});
          localStorage.removeItem(key);
          throw error;
        }
        if (error.isFinal) {
          localStorage.removeItem(key);
          throw error;
        }
        if (++attempts > maximumAttempts) throw error;
        const pause = error.retryAfter ?? Math.min(longestPause, 2 ** (attempts - 1));
        say(`${error.message} Trying again in ${pause} s …`);
        await new Promise((done) => {
          setTimeout(done, pause * 1000);
          signal.addEventListener("abort", done, {once: true});
        });
        signal.throwIfAborted();
        say("Uploading …");
      }
    }
  }

  async function create(file, signal) {
    const metadata = [["report", form.dataset.report], ["note", form.elements.note.value.trim()]]
      .filter(([, value]) => value).map(([name, value]) => `${name} ${base64(value)}`);
    const response = await request("POST", form.dataset.uploads, signal, {
      "Upload-Length": String(file.size), "Upload-Metadata": metadata.join(","),
    });
    return state(response.headers.get("Location"), response);
  }

  // Returns nothing if the upload does not exist any more.
  async function resume(address, signal) {
    try {
      return state(address, await request("HEAD", address, signal));
    } catch (error) {
      if (error.status === 404 || error.status === 410) return null;
      throw error;
    }
  }

  function state(address, response) {
    const snapshot = /<[^>]*\/([0-9a-f-]{36})>;\s*rel="describedby"/.exec(response.headers.get("Link") ?? "");
    return {
      address, offset: Number(response.headers.get("Upload-Offset") ?? 0),
      page: snapshot ? `/snapshots/${snapshot[1]}?done=attached` : null,
    };
  }

  // Only XMLHttpRequest states the progress of a request's body.
  function append({address, offset}, file, signal, progress) {
    return new Promise((resolve, reject) => {
      const sending = new XMLHttpRequest();
      sending.open("PATCH", address);
      for (const [name, value] of Object.entries(fields())) sending.setRequestHeader(name, value);
      sending.setRequestHeader("Content-Type", "application/offset+octet-stream");
      sending.setRequestHeader("Upload-Offset", String(offset));
      sending.upload.onprogress = (event) => progress(offset + event.loaded);
      sending.onerror = () => reject(new Error("The connection was interrupted."));
      sending.onabort = () => reject(new Error("The upload was cancelled."));
      sending.onload = () => {
        const headers = {get: (name) => sending.getResponseHeader(name)};
        if (sending.status >= 200 && sending.status < 300) resolve(state(address, {headers}));
        else reject(failure(sending.status, headers, sending.responseText));
      };
      signal.addEventListener("abort", () => sending.abort(), {once: true});
      sending.send(file.slice(offset));
    });
  }

  async function request(method, address, signal, more = {}) {
    let response;
    try {
      response = await fetch(address, {method, headers: {...fields(), ...more}, signal, redirect: "error"});
    } catch (error) {
      throw signal?.aborted ? error : new Error("The connection was interrupted.");
    }
    if (!response.ok) throw failure(response.status, response.headers, await response.text());
    return response;
  }

  function fields() {
    return {
      "Tus-Resumable": "1.0.0", "Snapshot-Form-Token": form.querySelector("[type=hidden]").value,
      "Accept": "text/html",
    };
  }

  // The server describes a problem in a page, of which only the text is used.
  function failure(status, headers, page) {
    const detail = new DOMParser().parseFromString(page, "text/html").querySelector("main h1 ~ p")?.textContent;
    // After an interruption, the server can have received more than the browser knows.
    const text = status === 409 ? "The connection was interrupted." : detail;
    const error = new Error(text || `The server responded with status ${status}.`);
    error.status = status;
    error.isFinal = status < 500 && ![408, 409, 423, 429].includes(status) || status === 507;
    const seconds = Number(headers.get("Retry-After"));
    if (seconds > 0) error.retryAfter = seconds;
    return error;
  }

  function base64(text) {
    return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
  }

  function show(offset, file) {
    bar.value = file.size ? 1000 * offset / file.size : 0;
    bar.textContent = `${Math.floor(bar.value / 10)} %`;
  }

  function say(text, isMistake = false) {
    part("status").textContent = text;
    part("status").classList.toggle("mistake", isMistake);
  }
}

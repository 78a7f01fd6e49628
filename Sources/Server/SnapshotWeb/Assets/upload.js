"use strict";

// Uploads a bundle with tus, so that an interrupted upload continues where it stopped, also after the page is loaded
// again, or the user has signed in again. Other files and folders are packed first. On the page of a link, the link's
// secret takes the place of a session. Without this script, the form sends a bundle in one request.

for (const form of document.querySelectorAll("form[data-uploads]")) makeResumable(form);

function makeResumable(form) {
  const part = (name) => form.querySelector(`[data-${name}]`);
  const input = form.querySelector("[type=file]"), formToken = form.querySelector("[type=hidden]");
  const note = form.elements.note, bar = form.querySelector("progress");
  const maximumAttempts = 10, longestPause = 30;
  let running = null;

  part("hint").hidden = false;
  input.multiple = true;
  input.removeAttribute("accept");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    upload(async () => packing.chosen(input.files));
  });
  const folder = Object.assign(document.createElement("input"),
    {id: "folder", type: "file", webkitdirectory: true, hidden: true});
  form.append(folder);
  folder.addEventListener("change", () => upload(async () => packing.chosen(folder.files)));
  part("folder").addEventListener("click", () => folder.click());
  part("folder").hidden = false;
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
    if (running) return;
    const {files, items} = event.dataTransfer, dropped = packing.dropped(items);
    if (![...items].some((item) => item.webkitGetAsEntry()?.isDirectory)) input.files = files;
    form.scrollIntoView({block: "nearest"});
    upload(() => dropped);
  });

  // `choose` returns the chosen files.
  async function upload(choose) {
    if (running) return;
    running = new AbortController();
    for (const button of form.querySelectorAll("button:not([data-cancel])")) button.disabled = true;
    part("progress").hidden = false;
    show(0, 1);
    say("Uploading …");
    try {
      location.assign(await send(await choose(), running.signal));
    } catch (error) {
      say(running.signal.aborted ? "The upload was cancelled." : error.message, !running.signal.aborted);
      part("progress").hidden = true;
    }
    for (const button of form.querySelectorAll("button")) button.disabled = false;
    running = null;
  }

  // Returns the address of the page of the uploaded snapshot.
  async function send(chosen, signal) {
    const {files} = chosen, isPacked = !await packing.isWhole(chosen);
    await requireReadable(files);
    const name = isPacked ? await packing.key(chosen)
      : [files[0].file.name, files[0].file.size, files[0].file.lastModified].join("\n");
    const key = ["upload", form.dataset.uploads, form.dataset.report, name].join("\n");
    const known = recall(key), typed = note.value.trim();
    if (known.address && typed && typed !== (known.note ?? typed)) {
      // The note is sent when an upload begins, so another note needs another upload.
      request("DELETE", known.address).catch(() => {});
      known.address = null;
    }
    known.note = typed || known.note || "";
    note.value = known.note;
    let {file} = files[0];
    if (isPacked) {
      // A later visit makes the same bundle.
      known.bundle ??= {id: crypto.randomUUID(), createdAt: new Date().toISOString()};
      say("Packing …");
      file = new File([await packing.bundle(chosen, known.bundle, signal, show)], "snapshot.zip");
      say("Uploading …");
    }
    // The server makes a bundle of an archive that a form sends.
    const isArchive = file.name.toLowerCase().endsWith(".har");
    let attempts = 0, isWhole = false, wasWhole = false;
    for (;;) {
      try {
        remember(key, known);
        if (isWhole || isArchive) {
          isWhole = false;
          const page = await sendWhole(file, known.note, signal);
          forget(key);
          return page;
        }
        let state = await (known.address ? resume(known.address, signal) : create(file, known.note, signal));
        known.address = state?.address ?? null;
        if (!state) continue;
        remember(key, known);
        const start = state.offset;
        if (!state.page) {
          state = await append(state, file, signal, (offset) => {
            // An attempt that sends bytes is not in vain.
            if (offset > start) attempts = 0;
            show(offset, file.size);
          });
          if (!state.page && state.offset <= start) throw new Error("The connection was interrupted.");
        }
        if (state.page) {
          forget(key);
          return state.page;
        }
      } catch (error) {
        if (signal.aborted) {
          if (known.address) request("DELETE", known.address).catch(() => {});
          forget(key);
          throw error;
        }
        if (error.isFinal) {
          forget(key);
          throw error;
        }
        if (!error.status) await requireReadable(files);
        // The way to the server may be free for a plain form.
        if (error.isForeign && !wasWhole && (!error.isTemporary || attempts === maximumAttempts)) {
          isWhole = wasWhole = true;
          continue;
        }
        if (++attempts > maximumAttempts) {
          error.message += " Choose the same file again later: the upload continues.";
          throw error;
        }
        const pause = error.retryAfter ?? Math.min(longestPause, 2 ** (attempts - 1));
        say(`${error.message} Trying again in ${pause} s …`);
        await new Promise((done) => {
          setTimeout(done, pause * 1000);
          signal.addEventListener("abort", done, {once: true});
        });
        signal.throwIfAborted();
        if (error.needsAccess) await renewFormToken();
        say("Uploading …");
      }
    }
  }

  // A folder in the form looks like a file until it is read, and so does a file that was changed or removed.
  async function requireReadable(files) {
    for (const {path, file} of files) await packing.bytes(path, file.slice(0, 1));
  }

  // What a later visit needs to continue an upload: its address and the note. A browser can refuse to store it; then
  // only this visit can continue the upload.
  function recall(key) {
    try {
      const text = localStorage.getItem(key) ?? "{}";
      return text.startsWith("{") ? JSON.parse(text) : {address: text};
    } catch {
      return {};
    }
  }

  function remember(key, known) {
    try { localStorage.setItem(key, JSON.stringify(known)); } catch { /* As above. */ }
  }

  function forget(key) {
    try { localStorage.removeItem(key); } catch { /* As above. */ }
  }

  // Forms have another token after the user has signed in again, perhaps in another window.
  async function renewFormToken() {
    try {
      const page = await (await fetch(location.href, {headers: {"Accept": "text/html"}})).text();
      const input = new DOMParser().parseFromString(page, "text/html").querySelector("form[data-uploads] [type=hidden]");
      if (input && formToken) formToken.value = input.value;
    } catch { /* The next request has the reason. */ }
  }

  async function create(file, text, signal) {
    const metadata = [["report", form.dataset.report], ["note", text]]
      .filter(([, value]) => value).map(([name, value]) => `${name} ${base64(value)}`);
    const response = await request("POST", form.dataset.uploads, signal, {
      "Upload-Length": String(file.size), "Upload-Metadata": metadata.join(","),
    });
    const address = response.headers.get("Location");
    if (!address) throw stranger(response.status, response.headers, "");
    return {address, offset: 0, page: null};
  }

  // Returns nothing if the upload does not exist any more.
  async function resume(address, signal) {
    try {
      return state(address, await request("HEAD", address, signal));
    } catch (error) {
      if (!error.isForeign && [404, 410].includes(error.status)) return null;
      throw error;
    }
  }

  // The path of the server is the same for all pages.
  const page = (id) => form.dataset.uploads.replace(/uploads$/, `snapshots/${id}?done=attached`);

  function state(address, {status, headers}) {
    const offset = headers.get("Upload-Offset");
    if (offset === null) throw stranger(status, headers, "");
    const snapshot = /<[^>]*\/([0-9a-f-]{36})>;\s*rel="describedby"/.exec(headers.get("Link") ?? "");
    const attached = snapshot && (form.dataset.done ?? page(snapshot[1]));
    return {address, offset: Number(offset), page: attached};
  }

  async function append({address, offset}, file, signal, progress) {
    const more = {"Content-Type": "application/offset+octet-stream", "Upload-Offset": String(offset)};
    const response = await transfer("PATCH", address, {...fields(), ...more}, file.slice(offset), signal,
      (sent) => progress(offset + sent));
    return state(address, response);
  }

  // Sends what the form sends without this script.
  async function sendWhole(file, text, signal) {
    const body = new FormData(form);
    body.set("snapshot", file);
    body.set("note", text);
    const response = await transfer("POST", form.action, {"Accept": fields().Accept}, body, signal,
      (sent) => show(Math.min(sent, file.size), file.size));
    const {pathname, search} = new URL(response.url);
    const isDone = form.dataset.done ? pathname + search === form.dataset.done
      : /^\/snapshots\/[0-9a-f-]{36}$/.test(pathname);
    if (!isDone) {
      throw stranger(response.status, response.headers, response.body);
    }
    return pathname + search;
  }

  // Only XMLHttpRequest states the progress of a request's body.
  function transfer(method, address, headers, body, signal, progress) {
    return new Promise((resolve, reject) => {
      const sending = new XMLHttpRequest();
      sending.open(method, address);
      for (const [name, value] of Object.entries(headers)) sending.setRequestHeader(name, value);
      sending.upload.onprogress = (event) => progress(event.loaded);
      sending.onerror = () => reject(new Error("The connection was interrupted."));
      sending.onabort = () => reject(new Error("The upload was cancelled."));
      sending.onload = () => {
        const response = {
          status: sending.status, headers: {get: (name) => sending.getResponseHeader(name)},
          body: sending.responseText, url: sending.responseURL,
        };
        if (sending.status >= 200 && sending.status < 300) resolve(response);
        else reject(failure(response.status, response.headers, response.body));
      };
      signal.addEventListener("abort", () => sending.abort(), {once: true});
      sending.send(body);
    });
  }

  async function request(method, address, signal, more = {}) {
    let response;
    try {
      response = await fetch(address, {method, headers: {...fields(), ...more}, signal, redirect: "manual"});
    } catch (error) {
      throw signal?.aborted ? error : new Error("The connection was interrupted.");
    }
    if (!response.ok) throw failure(response.status, response.headers, await response.text());
    return response;
  }

  function fields() {
    const access = form.dataset.secret ? {"Authorization": `Bearer ${form.dataset.secret}`}
      : {"Snapshot-Form-Token": formToken.value};
    return {"Tus-Resumable": "1.0.0", "Accept": "application/problem+json", ...access};
  }

  // The error for a response that is no success. The server describes a problem by a type of its own; the response to
  // HEAD has no body.
  function failure(status, headers, body) {
    let problem = null;
    if (headers.get("Content-Type")?.startsWith("application/problem+json")) {
      try { problem = body ? JSON.parse(body) : {type: "urn:data-snapshots:problem:"}; } catch { /* Not the server's. */ }
    }
    const registered = ["mismatching-upload-offset", "completed-upload", "inconsistent-upload-length"]
      .map((name) => `https://iana.org/assignments/http-problem-types#${name}`);
    const isOwn = problem?.type?.startsWith?.("urn:data-snapshots:problem:") || registered.includes(problem?.type)
      || problem?.type === "about:blank" && problem.requestID === headers.get("X-Request-Id");
    if (!isOwn) return stranger(status, headers, body);
    const needsAccess = !form.dataset.secret && (status === 401 || status === 403);
    let text = problem.detail || `The server responded with status ${status}.`;
    // After an interruption, the server can have received more than the browser knows.
    if (status === 409) text = "The connection was interrupted.";
    if (status === 401 && form.dataset.secret) text = "This link is not valid any more. Ask its sender for a new one.";
    else if (status === 401) text = "You are signed out.";
    if (needsAccess) text += " Sign in again in another tab: then the upload continues.";
    // An upload that has expired or was removed begins again.
    const isFinal = status < 500 && !needsAccess && ![404, 408, 409, 410, 423, 429].includes(status);
    return Object.assign(new Error(text), {status, needsAccess, isFinal, retryAfter: retryAfter(headers)});
  }

  // The error for a response of something else than the server, such as a proxy.
  function stranger(status, headers, body) {
    const names = [headers.get("Server"), new DOMParser().parseFromString(body, "text/html").title]
      .filter((name) => name).map((name) => name.slice(0, 80));
    // A redirect has no status here.
    let text = status ? `Something on the way to the server answered with status ${status}` :
      "Something on the way to the server redirects the upload";
    if (names.length) text += ` (${names.join(", ")})`;
    const isTemporary = [408, 425, 429, 502, 503, 504].includes(status);
    return Object.assign(new Error(`${text}.`),
      {status: status || 300, isForeign: true, isTemporary, retryAfter: retryAfter(headers)});
  }

  function retryAfter(headers) {
    const seconds = Number(headers.get("Retry-After"));
    return seconds > 0 ? seconds : undefined;
  }

  function base64(text) {
    return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
  }

  function show(done, total) {
    bar.value = total ? 1000 * done / total : 0;
    bar.textContent = `${Math.floor(bar.value / 10)} %`;
  }

  function say(text, isMistake = false) {
    part("status").textContent = text;
    part("status").classList.toggle("mistake", isMistake);
  }
}

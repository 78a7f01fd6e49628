"use strict";

// Makes a bundle of files that are none: of several files, or of a folder, whose files become recordings with their
// paths as identifiers; or of the folder of a snapshot. The article The bundle format is the specification. The bundle
// is a Blob that refers to the files: their bytes are read once for the digests, and again while they are uploaded.

const packing = {
  // The most bytes of a file, which is read at once; of a bundle, and files in it, without ZIP64; and the most files.
  mostBytesOfFile: 1 << 30, mostBytes: 0xFFFFFFFF, mostFiles: 50_000,
  ownProgram: "Pack it with `snapshot pack`, and drop the ZIP file.",

  // Returns the files of what was dropped, each with its path. Must be called before the handler of the event returns.
  async dropped(items) {
    const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry);
    const files = [];
    const open = entries.map((entry) => [entry, entry.name]);
    while (open.length) {
      const [entry, path] = open.pop();
      if (entry.isDirectory) {
        if (entry.name.endsWith(".xcappdata")) throw new Error(`${path} is an app’s container. ${this.ownProgram}`);
        const reader = entry.createReader();
        for (;;) {
          const some = await new Promise((done, failed) => reader.readEntries(done, failed));
          if (!some.length) break;
          for (const one of some) open.push([one, `${path}/${one.name}`]);
        }
      } else {
        files.push({path, file: await new Promise((done, failed) => entry.file(done, failed))});
      }
      this.check(files);
    }
    return this.relative(files, entries.length === 1 && entries[0].isDirectory);
  },

  // Returns the files of a control, each with its path.
  chosen(list) {
    const files = [...list].map((file) => ({path: file.webkitRelativePath || file.name, file}));
    this.check(files);
    return this.relative(files, [...list].some((file) => file.webkitRelativePath));
  },

  check(files) {
    if (files.length > this.mostFiles) throw new Error(`These are more than ${this.mostFiles} files. ${this.ownProgram}`);
  },

  // Paths begin below the folder, if there is one, and are in the order of the characters. Finder's files are left out.
  relative(files, isFolder) {
    const name = isFolder ? files[0]?.path.split("/")[0] : undefined;
    const kept = files.map(({path, file}) => ({path: isFolder ? path.slice(name.length + 1) : path, file}))
      .filter(({path}) => path.split("/").at(-1) !== ".DS_Store")
      .sort((one, other) => (one.path < other.path ? -1 : 1));
    if (!kept.length) throw new Error("There are no files in it.");
    return {name: name ?? kept[0].path, files: kept};
  },

  // Whether a file is uploaded as it is: an archive, or a bundle, which begins as a ZIP file does.
  async isWhole({files}) {
    if (files.length > 1) return false;
    const [{path, file}] = files;
    const start = await this.bytes(path, file.slice(0, 2));
    return /\.(har|zip)$/i.test(path) || start[0] === 0x50 && start[1] === 0x4B;
  },

  // A text that is another one if other files are chosen, or one of them was changed.
  async key({files}) {
    const texts = files.map(({path, file}) => [path, file.size, file.lastModified].join("\n"));
    return this.hexadecimal(await this.sha256(new TextEncoder().encode(texts.join("\n"))));
  },

  // Returns the bundle. The same files, id and time give the same bytes.
  async bundle({name, files}, {id, createdAt}, signal, progress) {
    const isSnapshot = files.some(({path}) => path === "manifest.json");
    if (isSnapshot && files.some(({path}) => path.startsWith("app-data/"))) {
      throw new Error(`The snapshot ${name} contains an app’s container. ${this.ownProgram}`);
    }
    const entries = [], recordings = [], total = files.reduce((sum, {file}) => sum + file.size, 0);
    let read = 0;
    for (const {path, file} of files) {
      signal.throwIfAborted();
      progress(read, total);
      if (file.size > this.mostBytesOfFile) throw new Error(`${path} has more than 1 GiB. ${this.ownProgram}`);
      const bytes = await this.bytes(path, file);
      read += bytes.length;
      const entry = {name: path, content: file, size: bytes.length, crc: this.crc32(bytes)};
      entries.push(entry);
      if (isSnapshot) continue;
      entry.name = `recordings/${await this.recordingName(path)}`;
      recordings.push({
        identifier: path, path: entry.name, size: bytes.length, sha256: this.hexadecimal(await this.sha256(bytes)),
        recordedAt: new Date(file.lastModified).toISOString(),
      });
    }
    if (!isSnapshot) {
      const manifest = {
        formatVersion: 1, id, createdAt, application: {identifier: name, version: "-", build: "-"},
        device: {model: "-", system: "-", systemVersion: "-", locale: "-"}, modules: [], recordings, redactions: [],
      };
      const bytes = new TextEncoder().encode(JSON.stringify(manifest));
      entries.unshift({name: "manifest.json", content: bytes, size: bytes.length, crc: this.crc32(bytes)});
    }
    return this.zip(entries);
  },

  // What is in a file, or in a part of it.
  async bytes(path, content) {
    try {
      return new Uint8Array(await content.arrayBuffer());
    } catch {
      throw new Error(`The browser can’t read the file ${path}. Choose it again.`);
    }
  },

  // The name of the file of a recording.
  async recordingName(identifier) {
    const bytes = new TextEncoder().encode(identifier.normalize("NFC"));
    if (!bytes.length) return "%";
    const dot = bytes.indexOf(0x2E), stem = new TextDecoder().decode(dot < 0 ? bytes : bytes.slice(0, dot));
    const isDevice = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/.test(stem);
    const parts = Array.from(bytes, (byte, index) => {
      const character = String.fromCharCode(byte), isEnd = index === 0 || index === bytes.length - 1;
      if (/[A-Z]/.test(character)) return `^${character.toLowerCase()}`;
      const isItself = /[a-z0-9\-_=+,.]/.test(character) && !(character === "." && isEnd) && !(isDevice && index === 0);
      return isItself ? character : `%${byte.toString(16).padStart(2, "0")}`;
    });
    const name = parts.join("");
    if (name.length <= 180) return name;
    let prefix = "";
    for (const part of parts) {
      if (prefix.length + part.length > 115) break;
      prefix += part;
    }
    return `${prefix}~${this.hexadecimal(await this.sha256(bytes))}`;
  },

  // A ZIP archive of stored entries, by PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.
  zip(entries) {
    const parts = [], directory = [];
    let offset = 0;
    for (const {name, content, size, crc} of entries) {
      const text = new TextEncoder().encode(name);
      // Version 2.0, names in UTF-8, stored, 1 January 1980.
      const common = [[2, 20], [2, 0x0800], [2, 0], [2, 0], [2, 0x21], [4, crc], [4, size], [4, size], [2, text.length], [2, 0]];
      const header = this.numbers([[4, 0x04034B50], ...common]);
      directory.push(this.numbers(
        [[4, 0x02014B50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]), text);
      parts.push(header, text, content);
      offset += header.length + text.length + size;
    }
    const length = directory.reduce((sum, part) => sum + part.length, 0);
    if (offset + length > this.mostBytes) throw new Error(`These files have more than 4 GiB. ${this.ownProgram}`);
    const end = this.numbers([
      [4, 0x06054B50], [2, 0], [2, 0], [2, entries.length], [2, entries.length], [4, length], [4, offset], [2, 0]]);
    return new Blob([...parts, ...directory, end], {type: "application/zip"});
  },

  // Numbers in little-endian order, each with its length in bytes.
  numbers(list) {
    const bytes = new DataView(new ArrayBuffer(list.reduce((sum, [length]) => sum + length, 0)));
    let place = 0;
    for (const [length, value] of list) {
      if (length === 2) bytes.setUint16(place, value, true); else bytes.setUint32(place, value, true);
      place += length;
    }
    return new Uint8Array(bytes.buffer);
  },

  crcTable: Uint32Array.from({length: 256}, (_, index) => {
    let crc = index;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xEDB88320 ^ crc >>> 1 : crc >>> 1;
    return crc;
  }),

  crc32(bytes) {
    let crc = 0xFFFFFFFF;
    for (let index = 0; index < bytes.length; index++) crc = this.crcTable[(crc ^ bytes[index]) & 0xFF] ^ crc >>> 8;
    return (crc ^ 0xFFFFFFFF) >>> 0;
  },

  // Browsers compute digests only for pages that came by HTTPS or from this machine.
  async sha256(bytes) {
    if (!crypto.subtle) throw new Error(`This page packs files only if it is opened by https. ${this.ownProgram}`);
    return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  },

  hexadecimal: (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""),
};

#!/usr/bin/env python3
"""Reads snapshot bundles by the specification in BundleFormat.md, with Python's standard library alone.

    read_bundle.py FILE.zip       checks the bundle and prints what it holds as JSON; exit status 1 if it is refused
    read_bundle.py --name TEXT    prints the file name of the recording with this identifier
"""
import hashlib, json, re, stat, struct, sys, unicodedata, zipfile
from datetime import datetime

DEVICES = {"con", "prn", "aux", "nul"} | {device + n for device in ("com", "lpt") for n in "0123456789"}
PLAIN = b"abcdefghijklmnopqrstuvwxyz0123456789-_=+,."
EXTRA_FIELDS = {0x0001, 0x000A, 0x5455, 0x5855, 0x6375, 0x7075, 0x7855, 0x7875, 0xCAFE}

def file_name(identifier, call=None):
    raw = unicodedata.normalize("NFC", identifier).encode()
    is_device = raw.split(b".")[0].decode() in DEVICES
    units = []
    for index, byte in enumerate(raw):
        is_plain = byte in PLAIN and not (index == 0 and is_device or index in (0, len(raw) - 1) and byte == ord("."))
        capital = "^" + chr(byte).lower() if 0x41 <= byte <= 0x5A else None
        units.append(capital or (chr(byte) if is_plain else f"%{byte:02x}"))
    name = "".join(units) or "%"
    if len(name) > 180:
        while len("".join(units)) > 115:
            units.pop()
        name = "".join(units) + "~" + hashlib.sha256(raw).hexdigest()
    return name if call is None else f"{name}@{call}"

def require(condition, problem):
    if not condition:
        raise ValueError(problem)

def folded(name):
    text = "".join(c for c in unicodedata.normalize("NFD", name) if unicodedata.category(c) != "Cf")
    return "/".join(re.sub('[<>"|?*]', "_", part).rstrip(". ") for part in text.casefold().strip("/").split("/"))

def check_entry(file, entry, end):
    name, mode, is_folder = entry.filename, entry.external_attr >> 16, entry.is_dir()
    require(re.match(r"(manifest\.json|sealed\.age)$|(recordings|attachments|app-data)/", name), f"stray entry {name!r}")
    require(not re.search(r"[\x00-\x1f\x7f-\x9f\\:]", name) and len(name.encode()) <= 1024, f"name {name!r}")
    for part in name.removesuffix("/").split("/"):
        stem = part.split(".")[0].rstrip().lower().translate({0xB9: "1", 0xB2: "2", 0xB3: "3"})
        require(len(part.encode()) <= 255 and part.strip(". "), f"a part of the name {name!r}")
        require(stem not in DEVICES | {"conin$", "conout$"}, f"name of a device {name!r}")
    require(name.isascii() or entry.flag_bits & 0x800, f"{name!r} is not marked as UTF-8")
    require(not entry.flag_bits & 0x2061 and entry.extract_version <= 63, f"{name!r} is encrypted or patched")
    require(entry.compress_type == 8 or (entry.compress_type == 0 and not entry.flag_bits & 8), f"method of {name!r}")
    require(not is_folder or (entry.file_size == 0 and entry.compress_size <= 2), f"{name!r} is a folder with data")
    require(stat.S_IFMT(mode) in (0, stat.S_IFDIR if is_folder else stat.S_IFREG) and not mode & 0o6000
            and not entry.external_attr & (0x448 if is_folder else 0x458), f"attributes of {name!r}")
    require(entry.file_size <= max(1 << 20, 500 * entry.compress_size), f"{name!r} is a bomb")
    file.seek(entry.header_offset)
    head = struct.unpack("<4s5H3L2H", file.read(30))
    raw, extra = file.read(head[9]), file.read(head[10])
    gap = end - file.tell() - entry.compress_size
    require(gap in ((12, 16, 20, 24) if entry.flag_bits & 8 else (0,)), f"bytes behind {name!r}")
    require(head[0] == b"PK\3\4" and raw == name.encode() and head[3] == entry.compress_type, f"header of {name!r}")
    require((head[2] ^ entry.flag_bits) & 0x2869 == 0 and head[6] in (entry.CRC, 0), f"header of {name!r}")
    for fields in (extra, entry.extra):
        while fields:
            number, length = struct.unpack("<2H", fields[:4])
            require(number in EXTRA_FIELDS and len(fields) >= 4 + length, f"extra field of {name!r}")
            require(number != 0x7075 or fields[9:4 + length] == raw, f"other name of {name!r}")
            fields = fields[4 + length:]

def unique_keys(pairs):
    require(len({key for key, _ in pairs}) == len(pairs), "a key is there twice in one object")
    return dict(pairs)

def gaps(value):
    entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    return [[e.get("identifier"), e["reason"], e["count"], e["bytes"]] for e in entries if type(e.get("reason")) is str
            and type(e.get("count")) is type(e.get("bytes")) is int and e["count"] > 0 and e["bytes"] >= 0]

def circumstances(manifest):
    found = {key: manifest[key] for key in ("timeZone", "locale", "calendar") if type(manifest.get(key)) is str}
    try:
        texts = [manifest["span"][key].replace("Z", "+00:00") for key in ("from", "to")]
        times = [datetime.fromisoformat(re.sub(r"\.(\d+)", lambda f: f".{f[1]:0<3.3}", text)) for text in texts]
        return found | ({"span": [int(time.timestamp() * 1000) for time in times]} if times[0] <= times[1] else {})
    except (KeyError, TypeError, ValueError):
        return found

def read_sealed(manifest, entries, age):
    sealed = manifest["sealed"]
    require({e.filename for e in entries} == {"manifest.json", "sealed.age"} and len(entries) == 2, "stray entry")
    require("recordings" not in manifest, "the head of a sealed bundle has no recordings")
    require(all(entry.compress_type == 0 for entry in entries if entry.filename == "sealed.age"), "sealed.age is deflated")
    header = age[:age.index(b"\n", age.index(b"\n--- ") + 1) + 1]
    require(header.startswith(b"age-encryption.org/v1\n"), "sealed.age is no age file")
    stanzas = [line.split(b" ")[1].decode() for line in header.split(b"\n") if line.startswith(b"-> ")]
    types = [recipient["type"] for recipient in sealed["recipients"]]
    require(types == [t for t in stanzas if not t.endswith("-grease")] and 1 <= len(types) <= 32, "other recipients")
    chunks = max(1, -(-sealed["size"] // 65536))
    require(len(age) == len(header) + 16 + sealed["size"] + 16 * chunks, "size of sealed.age")
    recipients = [recipient.get("recipient") for recipient in sealed["recipients"]]
    return {"id": manifest["id"].lower(), "recordings": {}, "others": [], "sealed": recipients}

def summary(recording, files):
    body = files.get("attachments/exchange-requests/" + recording["path"].split("/")[1])
    try:
        exchange, request = recording["exchange"], recording["exchange"]["request"]
        outcome = exchange["response"]["status"] if "response" in exchange else exchange["failure"]["code"]
        stated = (request["body"]["size"], request["body"]["sha256"]) if "body" in request else None
        is_right = body is not None and stated == (len(body), hashlib.sha256(body).hexdigest())
        fields = [f"{name}: {value}" for name, value in request["fields"]]
        return [request["method"], request["url"], str(outcome), *fields, body.decode() if is_right else ""]
    except (KeyError, TypeError):
        return None

def read(path):
    with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
        require(entries and entries[0].header_offset == 0, "bytes before the archive")
        file.seek(-23 - len(archive.comment), 2)
        require(b"PK\5\6" in file.read(5), "bytes behind the archive")
        for entry, end in zip(entries, [e.header_offset for e in entries[1:]] + [archive.start_dir]):
            check_entry(file, entry, end)
        require(len({folded(e.filename) for e in entries}) == len(entries), "two names are one file on some disks")
        manifest = json.loads(archive.read("manifest.json"), object_pairs_hook=unique_keys)
        require(manifest["formatVersion"] in (1, 2), "format version")
        files = {e.filename: archive.read(e) for e in entries if not e.is_dir()}
        if manifest["formatVersion"] == 2:
            return read_sealed(manifest, entries, files["sealed.age"])
        require("sealed.age" not in files, "stray entry")
        identifiers = {recording["path"]: recording["identifier"] for recording in manifest["recordings"]}
        require(set(identifiers) == {n for n in files if n.startswith("recordings/")}, "recordings and files differ")
        calls = {(unicodedata.normalize("NFC", r["identifier"]), r.get("call")) for r in manifest["recordings"]}
        require(len(calls) == len(manifest["recordings"]) == len(identifiers), "an identifier or path is there twice")
        for time in [manifest["createdAt"]] + [recording["recordedAt"] for recording in manifest["recordings"]]:
            datetime.fromisoformat(re.sub(r"\.\d+", "", time).replace("Z", "+00:00"))
        for recording, data in ((r, files[r["path"]]) for r in manifest["recordings"]):
            digest = hashlib.sha256(data).hexdigest()
            require((len(data), digest) == (recording["size"], recording["sha256"].lower()), recording["identifier"])
        exchanges = {r["path"]: summary(r, files) for r in manifest["recordings"] if summary(r, files)}
        others = sorted(set(files) - set(identifiers) - {"manifest.json"})
        found = {"id": manifest["id"].lower(), "recordings": identifiers, "others": others}
        found |= {"dropped": gaps(manifest["dropped"])} if "dropped" in manifest else {}
        found |= {"circumstances": circumstances(manifest)} if circumstances(manifest) else {}
        return found | ({"exchanges": exchanges} if exchanges else {})

if __name__ == "__main__":
    try:
        is_name = sys.argv[1] == "--name"
        print(file_name(sys.argv[2]) if is_name else json.dumps(read(sys.argv[1]), ensure_ascii=False, sort_keys=True))
    except (ValueError, KeyError, TypeError, NotImplementedError, zipfile.BadZipFile, struct.error) as error:
        sys.exit(f"{sys.argv[1]} is refused: {error}")

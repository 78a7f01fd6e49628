#!/usr/bin/env python3
"""Makes the files in Vectors/ again: bundles that every reader accepts (accepted/, each with what it holds as JSON), and
bundles that every reader refuses (refused/), and names of recordings (names.json) and of other files (file-names.json)."""
import base64, copy, hashlib, json, os, shutil, struct, zlib
from read_bundle import file_name, read

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Vectors")
ID = "3f2b8c1e-5d6f-4a7b-8c9d-0e1f2a3b4c5d"
UTF8 = 1 << 11


class Entry:
    """An entry of a ZIP archive, with everything that a header may say."""

    def __init__(self, name, data=b"", deflate=True, flags=UTF8, mode=0o100644, attributes=0, extra=b"", raw=None,
                 local_name=None, has_descriptor=False, method=None, version=20, size=None, crc=None):
        self.raw = raw if raw is not None else name.encode()
        self.local_name = local_name if local_name is not None else self.raw
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(data) + packer.flush()
        is_deflated = deflate and len(packed) < len(data)
        self.body = packed if is_deflated else data
        self.method = method if method is not None else (8 if is_deflated else 0)
        self.flags, self.extra, self.version = flags | (8 if has_descriptor else 0), extra, version
        self.size = len(data) if size is None else size
        self.crc = zlib.crc32(data) if crc is None else crc
        lengths = struct.pack("<LLL", self.crc, len(self.body), self.size)
        self.descriptor = b"PK\7\x08" + lengths if has_descriptor else b""
        self.attributes = mode << 16 | attributes

    def header(self, name):
        return struct.pack("<5H3L2H", self.version, self.flags, self.method, 0, 0x21, self.crc, len(self.body),
                           self.size, len(name), len(self.extra))


def archive(entries, before=b"", behind=b"", between=b""):
    data, directory = before, b""
    for entry in entries:
        offset = len(data)
        data += b"PK\3\4" + entry.header(entry.local_name) + entry.local_name + entry.extra + entry.body
        data += entry.descriptor + between
        directory += b"PK\1\2" + struct.pack("<H", 3 << 8 | 20) + entry.header(entry.raw) + struct.pack(
            "<3HLL", 0, 0, 0, entry.attributes, offset) + entry.raw + entry.extra
    count = len(entries)
    return data + directory + b"PK\5\6" + struct.pack("<4H2LH", 0, 0, count, count, len(directory), len(data), 0) + behind


def manifest(recordings=(), **changes):
    value = {
        "formatVersion": 1, "id": ID, "createdAt": "2026-11-21T15:04:05.678Z",
        "application": {"identifier": "com.example.news", "version": "3.1.4", "build": "512"},
        "device": {"model": "iPhone17,1", "system": "iOS", "systemVersion": "26.1.0", "locale": "de_AT"},
        "modules": [], "recordings": list(recordings), "redactions": [], **changes,
    }
    return {key: member for key, member in value.items() if member is not None}


def recording(identifier, data, call=None, **changes):
    value = {"identifier": identifier, "path": "recordings/" + file_name(identifier, call), "size": len(data),
             "sha256": hashlib.sha256(data).hexdigest(), "recordedAt": "2026-11-21T15:03:00.000Z"}
    return {**value, **({} if call is None else {"call": call}), **changes}


def bundle(recorded, entries=(), json_text=None, manifest_entry=True, **options):
    """A bundle of recordings, given as pairs of what the manifest says and the data."""
    text = json_text or json.dumps(manifest([r for r, _ in recorded]), ensure_ascii=False, sort_keys=True)
    head = [Entry("manifest.json", text.encode())] if manifest_entry else []
    return archive(head + [Entry(r["path"], data) for r, data in recorded] + list(entries), **options)


feed = b'{"title":"Yesterday"}'
plain = [(recording("news/feed", feed), feed)]
identifiers = ["", ".", "../x", "CON", "con.json", "a", "A", "é", "日本語", "news/Feed?page=2", "x\0y", "a" * 181, "É" * 60]
text = json.dumps(manifest([plain[0][0]]))
names = identifiers + [
    "con", "nul", "com1.txt", "lpt10", "conin$", "a.", ".a", "...", "a b", "a%", "^a", "~", "feed@2", "a+b,c=d_-", "x\n",
    "e\u0301", "😀", "z" * 180, "z" * 179 + ".", "Z" * 90, "Z" * 91, "b" * 114 + "É" * 30, "." + "q" * 200, "é" * 4096]

# The names of single files, and what they are in a bundle.
file_names = {
    "screenshot.png": "screenshot.png", "größe 😀.HEIC": "größe 😀.HEIC", "100%.txt": "100%.txt", "a^b": "a^b",
    "sceneID:com.example.news-default": "%%sceneID%3acom.example.news-default", "12:30 100%.png": "%%12%3a30 100%25.png",
    "a\\b": "%%a%5cb", "a\nb": "%%a%0ab", "x\u0085": "%%x%c2%85", "NUL.txt": "%%%4eUL.txt", "con": "%%%63on",
    "...": "%%..%2e", " ": "%%%20", "a.": "a.", "%%": "%%%25%25", "%%a%3ab": "%%%25%25a%253ab", "^:": "%%%5e%3a",
    "\u200d": "%%%e2%80%8d", "c:ä": "%%c%3aä"}
# The names of files in one folder.
sibling_names = [
    [["a", "A"], ["a", "%%^a"]], [["IMG.HEIC", "img.heic", "x"], ["%%^i^m^g.^h^e^i^c", "img.heic", "x"]],
    [["é", "e\u0301"], ["é", "%%e%cc%81"]], [["Ä", "ä"], ["%%%c3%84", "ä"]], [["a.", "a"], ["%%a%2e", "a"]],
    [["A:", "a:"], ["%%^a%3a", "%%a%3a"]], [["ß", "ss"], ["%%%c3%9f", "ss"]], [['a"b', "a_b"], ["%%a%22b", "a_b"]]]

# What `age` 1.1.1 made of the bundle one-recording, for the identity below.
IDENTITY = "AGE-SECRET-KEY-1WA8YY9QMTHKR5GRRSYSEYL4AF00860839PV53QQYL4EVSGAXXHSQ7P8XCE"
RECIPIENT = "age1xl44rsae4w8ak665kg8zct26jkvktvsrq70wjzvew4xu4px7a5gqf07vg2"
AGE = base64.b64decode(
    "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBvVEpGNSs2a0xrM2w4L2Z3ZnUxTGczWE9SbW1qNWl1QzAybUNvUkxGZFJvCkxVOHZ4K2"
    "QvS0tqYXlhU2ZPZzVyTzIrSHRlYU9tdkl1TVpMOHZHakhkbm8KLS0tIHRBSUxDQ01rTjJuWmhlNTJ0UzE1T1kxSVJUVEZWSkwrekw5VnlaK3Za"
    "ZEUKVSyatMwehQPjc0KvXtJcQjsMpZaE8mpkqDRDMehBpP9eFvsM0QBsVI46a1uWjKd+uA0EmkDMXgRT0mpvo7yii6pPsjAeJP0FbeMKGufGQO"
    "Vwqb/RdyF2lP702xQm5GWO0teMZsredMSqDsCbVaYI4Rbvs47ch1DYaUIu71fBm1s2kRV04oQAKfw88BRTc5nLGf0Ae6FCZzgy4K2zu9Iz2kV3"
    "vUK2qI1zzm58oI0YbR7i4Sm0lp7/Bprk268jwQwBhE4yi0VzXe4ta17V7smIpZYXzHw4ZdMyqL3TqH1T8WwvUZMq0XuTMtVQsBAY+EuYuDzHkJ"
    "+vz1HmvY9h+DwGgaEV7FywntB9W0paoHNdyIdBC8SI/swcbvLY54C5DyY6KbmzcB2RZ60bZyCagwqRl7IQdFosYIwYQgBUajd/Tl7dTR+8Zfns"
    "VwOGKKaierLC2j3DWv5NZyk2JU74OzYvZ84CmzlTzc82GZq0DyUrNxNdCQ9lLFx8yUPKU4oisuR+zqkjZ+o3pvgkmqHO96x03gmfHJLe3Q/0OQ"
    "0E8DtE+SxXEOPoFqpO+NQ1SusvoHl/a11k2JS99Smb7L/mdTF1MYtSwqKrLFD++jsnjhoog9wqHXcTZZUQM2qeGBwCl61xKMnuZ8eWbxXe1LRW"
    "2Rps7bPjosjbrNQVJpJQO/P0+vqm1axRPD3qWCLcXYSE0i4IlwQJFtNksgdv02WJ2tYJA9LUD71hive9zqO/PwJAzj2UAyjeSxVwBt3L6KW/4n"
    "uWFDmccYNS245P1mP2hU7SVZGQtTsDP5hQoqXgIL6zrHK3cONfohDKNilDpW84")
SEALED = {"recipients": [{"type": "X25519", "recipient": RECIPIENT}], "size": 589}


def sealed(entries=(), age=AGE, deflate=False, says=SEALED, has_recordings=False, **changes):
    """A sealed bundle whose head says this about its contents."""
    head = manifest(formatVersion=2, device=None, modules=None, redactions=None, sealed=says, **changes)
    head = {key: value for key, value in head.items() if key != "recordings" or has_recordings}
    return archive([Entry("manifest.json", json.dumps(head).encode()), Entry("sealed.age", age, deflate), *entries])


accepted = {
    "no-recordings": bundle([]),
    "one-recording": bundle(plain),
    "identifiers": bundle([(recording(i, i.encode()), i.encode()) for i in identifiers]),
    "history": bundle([(recording("feed", d, call), d) for call, d in ((7, b"first"), (9, b"second"))]),
    "attachments-and-container": bundle(plain, [
        Entry("attachments/screenshot.png", bytes(200)), Entry("app-data/Documents/Übersicht.json", b"[]"),
        Entry("app-data/run", b"#!/bin/sh\n", mode=0o100755), Entry("app-data/Library/", mode=0o040755)]),
    "encoded-names": bundle(plain, [
        Entry("app-data/Library/SplashBoard/Snapshots/%%sceneID%3acom.example.news-default/1.ktx", b"1"),
        Entry("attachments/%%^i^m^g_1.^h^e^i^c", b"2"), Entry("attachments/img_1.heic", b"3"),
        Entry("attachments/100%25.txt", b"4")]),
    "exchanges": bundle(
        [(recording("GET https://example.com/feed?page=2", feed, 1, exchange={
            "request": {"method": "GET", "url": "https://example.com/feed?page=2", "fields": [["Accept", "*/*"]]},
            "response": {"status": 200, "fields": [["Content-Type", "application/json"], ["Set-Cookie", "[redacted]"]]},
            "startedAt": "2026-11-21T15:02:59.900Z", "responseAfter": 41, "duration": 52}), feed),
         (recording("GET https://example.com/feed?page=2", b"", 2, exchange={
             "request": {"method": "GET", "url": "https://example.com/feed?page=2", "fields": []},
             "failure": {"domain": "NSURLErrorDomain", "code": -1001},
             "startedAt": "2026-11-21T15:02:59.900Z", "duration": 60000}), b""),
         (recording("POST https://example.com/login #e2ba3d2dd0b7a4e1", b"moved", exchange={
             "request": {"method": "POST", "url": "https://example.com/login", "fields": [],
                         "body": {"size": 8, "sha256": hashlib.sha256(b"name=ann").hexdigest()}},
             "response": {"status": 303, "fields": [["Location", "/"]]},
             "redirect": {"method": "GET", "url": "https://example.com/"},
             "startedAt": "2026-11-21T15:02:59.900Z", "responseAfter": 7, "duration": 7}), b"moved"),
         (recording("not understood", b"1", exchange={"request": "GET", "startedAt": 7}), b"1")],
        [Entry("attachments/exchange-requests/" + file_name("POST https://example.com/login #e2ba3d2dd0b7a4e1"),
               b"name=ann")]),
    "unknown-members": bundle(plain, json_text=json.dumps(manifest([plain[0][0]], weather={"sky": ["blue", 1.5, None]}))),
    "note-and-fields": bundle(plain, json_text=json.dumps(manifest(
        [plain[0][0]], note="The feed\nwas empty 😀", fields={"severity": "high", "": ""}))),
    "dropped": bundle(plain, json_text=json.dumps(manifest([plain[0][0]], dropped=[
        {"identifier": "news/video", "reason": "waiting", "count": 2, "bytes": 60000000},
        {"reason": "solarFlare", "count": 1, "bytes": 0, "mood": "bad"}, {"reason": "age", "count": 0, "bytes": 1},
        {"reason": 7, "count": 1, "bytes": 1}, {"count": 1, "bytes": 1}, "age", None]))),
    "dropped-of-another-type": bundle(plain, json_text=json.dumps(manifest([plain[0][0]], dropped={"age": 1}))),
    "circumstances": bundle(plain, json_text=json.dumps(manifest(
        [plain[0][0]], timeZone="Europe/Vienna", locale="de_AT@hours=h23", calendar="gregorian",
        span={"from": "2026-11-21T16:02:00.5+01:00", "to": "2026-11-21T15:03:00Z", "mood": "good"}))),
    "circumstances-of-another-type": bundle(plain, json_text=json.dumps(manifest(
        [plain[0][0]], timeZone=1, locale=None, calendar=["gregorian"],
        span={"from": "2026-11-21T15:03:00Z", "to": "2026-11-21T15:02:00Z"}))),
    "other-spellings": bundle(plain, json_text=json.dumps(manifest(
        [{**plain[0][0], "sha256": plain[0][0]["sha256"].upper(), "size": 21.0, "call": None, "mood": "good"}],
        id=ID.upper(), createdAt="2026-11-21T16:04:05+01:00", report="proj/issue/9"))),
    "deflated-with-descriptor": bundle(plain, [Entry("attachments/log.txt", b"a" * 100, has_descriptor=True)]),
    "sealed": sealed(),
    "sealed-with-more": sealed(weather="sunny", says={
        **SEALED, "mood": "good", "recordingCount": 1, "identifiers": ["news/feed"]}),
    "times-in-extra-fields": bundle(plain, [Entry("attachments/a", b"a", extra=struct.pack("<HHBL", 0x5455, 5, 1, 0))]),
}


def changed(**changes):
    return bundle([({**plain[0][0], **changes}, feed)])


refused = {
    "no-manifest": bundle(plain, manifest_entry=False),
    "newer-format": bundle(plain, json_text=json.dumps(manifest([plain[0][0]], formatVersion=3))),
    "missing-member": bundle(plain, json_text=json.dumps(manifest([plain[0][0]], createdAt=None))),
    "no-json": bundle(plain, json_text=text[:-1]),
    "repeated-key": bundle(plain, json_text=text[:-1] + ', "id": "' + ID + '"}'),
    "no-time": bundle(plain, json_text=json.dumps(manifest([plain[0][0]], createdAt="yesterday"))),
    "other-digest": changed(sha256=hashlib.sha256(b"").hexdigest()),
    "other-size": changed(size=20),
    "recording-missing": bundle([], json_text=text),
    "recording-not-listed": bundle(plain, [Entry("recordings/other", b"x")]),
    "identifier-twice": bundle([(recording("feed", b"1"), b"1"), (recording("feed", b"2", path="recordings/b"), b"2")]),
    "sealed-without-member": sealed(says=None),
    "sealed-with-recordings": sealed(has_recordings=True),
    "sealed-with-other-entry": sealed([Entry("attachments/log.txt", b"x")]),
    "sealed-deflated": sealed(age=AGE + bytes(5000), deflate=True, says={**SEALED, "size": SEALED["size"] + 5000}),
    "sealed-to-others": sealed(says={**SEALED, "recipients": [{"type": "ssh-ed25519"}]}),
    "sealed-to-nobody": sealed(says={**SEALED, "recipients": []}),
    "sealed-truncated": sealed(age=AGE[:-1]),
    "sealed-no-age": sealed(age=bytes(len(AGE))),
    "sealed-beside-recordings": bundle(plain, [Entry("sealed.age", AGE, deflate=False)]),
    "stray-file": bundle(plain, [Entry("notes.txt", b"x")]),
    "stray-folder": bundle(plain, [Entry("__MACOSX/._manifest.json", b"x")]),
    "entry-twice": bundle(plain, [Entry("attachments/a", b"1"), Entry("attachments/a", b"2")]),
    "names-differ-in-case": bundle(plain, [Entry("attachments/a", b"1"), Entry("attachments/A", b"2")]),
    "names-differ-in-composition": bundle(plain, [Entry("attachments/\u00e9", b"1"), Entry("attachments/e\u0301", b"2")]),
    "path-traversal": bundle(plain, [Entry("attachments/../../x", b"x")]),
    "backslash": bundle(plain, [Entry("attachments/a\\x", b"x")]),
    "colon": bundle(plain, [Entry("attachments/a:b", b"x")]),
    "device-name": bundle(plain, [Entry("attachments/Aux.txt", b"x")]),
    "part-too-long": bundle(plain, [Entry("attachments/" + "a" * 256, b"x")]),
    "link": bundle(plain, [Entry("attachments/a", b"/etc/passwd", mode=0o120777)]),
    "set-user-id": bundle(plain, [Entry("app-data/a", b"x", mode=0o104755)]),
    "folder-with-data": bundle(plain, [Entry("attachments/a/", b"xyz", mode=0o040755)]),
    "file-marked-as-folder": bundle(plain, [Entry("attachments/a", b"x", mode=0o040755)]),
    "name-not-marked": bundle(plain, [Entry("attachments/é", b"x", flags=0)]),
    "other-unicode-path": bundle(plain, [Entry("attachments/a", b"x", extra=struct.pack(
        "<HHBL", 0x7075, 18, 1, zlib.crc32(b"attachments/a")) + b"attachments/b")]),
    "unknown-extra-field": bundle(plain, [Entry("attachments/a", b"x", extra=struct.pack("<HHL", 0x4242, 4, 0))]),
    "encrypted": bundle(plain, [Entry("attachments/a", b"x", flags=UTF8 | 1)]),
    "other-method": bundle(plain, [Entry("attachments/a", b"x", method=12)]),
    "stored-with-descriptor": bundle(plain, [Entry("attachments/a", b"x", deflate=False, has_descriptor=True)]),
    "other-local-name": bundle(plain, [Entry("attachments/a", b"x", local_name=b"attachments/b")]),
    "wrong-checksum": bundle(plain, [Entry("attachments/a", b"x", crc=0x12345678)]),
    "bytes-before": bundle(plain, before=b"#!/bin/sh\n"),
    "bytes-between": bundle(plain, between=b"?"),
    "bytes-behind": bundle(plain, behind=b"??"),
    "no-archive": b"This is not a ZIP archive.\n" * 10,
}

if __name__ == "__main__":
    shutil.rmtree(folder, ignore_errors=True)
    for kind, vectors in (("accepted", accepted), ("refused", refused)):
        os.makedirs(f"{folder}/{kind}")
        for name, data in vectors.items():
            with open(f"{folder}/{kind}/{name}.zip", "wb") as file:
                file.write(data)
            if kind == "accepted":
                with open(f"{folder}/{kind}/{name}.json", "w", encoding="utf-8") as file:
                    json.dump(read(f"{folder}/{kind}/{name}.zip"), file, ensure_ascii=False, sort_keys=True, indent=2)
                    file.write("\n")
    with open(f"{folder}/identity.txt", "w", encoding="utf-8") as file:
        file.write(IDENTITY + "\n")
    with open(f"{folder}/names.json", "w", encoding="utf-8") as file:
        json.dump({identifier: file_name(identifier) for identifier in names}, file, ensure_ascii=False, indent=2)
        file.write("\n")
    with open(f"{folder}/file-names.json", "w", encoding="utf-8") as file:
        json.dump({"single": file_names, "siblings": sibling_names}, file, ensure_ascii=False, indent=2)
        file.write("\n")

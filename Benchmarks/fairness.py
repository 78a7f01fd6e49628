#!/usr/bin/env python3
"""Measures the time of an upload of 1 KB while the server checks bundles that inflate to a large size.

    swift build -c release --product snapshot
    python3 Benchmarks/fairness.py .build/release/snapshot [--large 8] [--seconds 10]

For each kind of large bundle it starts a server on loopback. It uploads small bundles one after the other without a
digest, so that each is checked before its response: first alone, then while eight clients repeatedly send large
bundles. It prints the percentiles of both and their ratio.
"""
import argparse, hashlib, http.client, json, multiprocessing, os, random, struct, subprocess, tempfile, time, uuid, zlib

MIB = 1 << 20


class Entry:
    """A file of a bundle, as stored in the archive. It can be in a bundle several times, and is compressed only once."""

    def __init__(self, data, deflates=True):
        self.size, self.crc, self.sha256 = len(data), zlib.crc32(data), hashlib.sha256(data).hexdigest()
        coder = zlib.compressobj(6, zlib.DEFLATED, -15)
        self.method = 8 if deflates else 0
        self.data = coder.compress(data) + coder.flush() if deflates else data


def bundle(entries):
    """Returns a snapshot bundle with `entries` as its recordings."""
    time_text, snapshot = "2026-01-01T00:00:00Z", str(uuid.uuid4())
    named = [("recordings/r%d" % index, entry) for index, entry in enumerate(entries)]
    manifest = json.dumps({
        "formatVersion": 1, "id": snapshot, "createdAt": time_text,
        "application": {"identifier": "com.example.bench", "version": "1", "build": "1"},
        "device": {"model": "bench", "system": "Linux", "systemVersion": "1", "locale": "en"},
        "modules": [], "redactions": [],
        "recordings": [{"identifier": "r%d" % index, "path": path, "size": entry.size, "sha256": entry.sha256,
                        "recordedAt": time_text} for index, (path, entry) in enumerate(named)]}).encode()
    body, directory = bytearray(), bytearray()
    everything = [("manifest.json", Entry(manifest))] + named
    for path, entry in everything:
        name, offset = path.encode(), len(body)
        common = struct.pack("<HHHHHIIIHH", 20, 0, entry.method, 0, 0x5C21, entry.crc, len(entry.data), entry.size,
                             len(name), 0)
        body += b"PK\3\4" + common + name + entry.data
        directory += b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, offset) + name
    end = struct.pack("<HHHHIIH", 0, 0, len(everything), len(everything), len(directory), len(body), 0)
    return bytes(body + directory) + b"PK\5\6" + end


def zeros(count):
    noise = Entry(random.Random(1).randbytes(20 * MIB), deflates=False)
    return bundle([Entry(bytes(MIB))] * count + [noise])


def ordinary():
    rows, row = [], random.Random(2)
    for index in range(60000):
        rows.append('{"id":%d,"title":"News %d","score":%.6f}' % (index, row.randrange(1000), row.random()))
    return bundle([Entry(("[" + ",".join(rows) + "]").encode())] * 152)


def post(port, data):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    begun = time.monotonic()
    connection.request("POST", "/v1/reports/BENCH-1/snapshots", data, {"Content-Type": "application/zip"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, (time.monotonic() - begun) * 1000


def small_uploads(port, seconds):
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        data = bundle([Entry(os.urandom(300), deflates=False)])
        status, took = post(port, data)
        assert status == 201, status
        times.append(took)
        time.sleep(0.005)
    times.sort()
    return times


def percentile(times, share):
    return times[min(int(len(times) * share), len(times) - 1)]


def send(port, large, answers, stopping):
    results = [post(port, large)]
    while not stopping.is_set():
        results.append(post(port, large))
    answers.put(results)


def measure(snapshot, name, make, options):
    large = make()
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [snapshot, "serve", "--port", "0", "--storage", folder + "/storage"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        try:
            port = int(server.stdout.readline().rsplit(":", 1)[1])
            idle = small_uploads(port, options.seconds)
            # Separate processes, because threads would wait for this interpreter and not for the server.
            answers, stopping = multiprocessing.Queue(), multiprocessing.Event()
            senders = [multiprocessing.Process(target=send, args=(port, large, answers, stopping), daemon=True)
                       for _ in range(options.large)]
            for sender in senders:
                sender.start()
            time.sleep(1)
            busy = small_uploads(port, options.seconds)
            stopping.set()
            results = [result for _ in senders for result in answers.get()]
        finally:
            server.terminate()
            server.wait()
    kinds = {status: sum(1 for result in results if result[0] == status) for status, _ in results}
    print("%-38s %5.1f MB  idle p50 %6.1f p99 %6.1f ms   busy p50 %6.1f p99 %6.1f max %6.1f ms (%d)  p99 ratio %5.1f"
          "   large: %s, slowest %.1f s" % (
              name, len(large) / 1e6, percentile(idle, .5), percentile(idle, .99), percentile(busy, .5),
              percentile(busy, .99), busy[-1], len(busy), percentile(busy, .99) / percentile(idle, .99), kinds,
              max(took for _, took in results) / 1000), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("snapshot")
    parser.add_argument("--large", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    for name, make in [
        ("15,000 x 1 MB of zeros, 20 MB of noise", lambda: zeros(15000)),
        ("4,000 x 1 MB of zeros, 20 MB of noise", lambda: zeros(4000)),
        ("JSON of 444 MB", ordinary),
        ("38 MB of noise, nothing to inflate", lambda: bundle([Entry(os.urandom(38 * MIB), deflates=False)])),
    ]:
        measure(options.snapshot, name, make, options)


main()

"""Clients of a cluster: they attach, read and delete bundles while parts of the cluster fail."""
import base64, collections, contextlib, hashlib, json, os, random, shutil, subprocess, threading, time, uuid

from parts import Incomplete, Refused, call


def make_bundle(work, snapshot, size):
    """A bundle with one recording of random bytes."""
    path = f"{work.path}/{uuid.uuid4()}"
    os.makedirs(f"{path}/data")
    with open(f"{path}/data/recording", "wb") as file:
        file.write(random.randbytes(size))
    subprocess.run(
        [snapshot, "pack", f"{path}/data", "--output", f"{path}/bundle.zip"], check=True, capture_output=True)
    with open(f"{path}/bundle.zip", "rb") as file:
        data = file.read()
    shutil.rmtree(path)
    return data


def digest(data):
    return hashlib.sha256(data).hexdigest()


def listed(url, token):
    """The ids of all snapshots, in the order of the lists."""
    ids, cursor = [], ""
    while True:
        page = json.loads(call(f"{url}/v1/snapshots?limit=100{cursor}", token=token)[1])
        ids += [record["id"] for record in page["snapshots"]]
        if not page.get("next"):
            return ids
        cursor = f"&cursor={page['next']}"


class Faults:
    """The faults so far, with the times of their begin and end."""

    def __init__(self):
        self.all = []

    @contextlib.contextmanager
    def during(self, name):
        """Notes a fault, which lasts as long as the context."""
        fault = {"name": name, "begin": time.monotonic(), "end": float("inf")}
        self.all.append(fault)
        yield
        fault["end"] = time.monotonic()

    def since(self, begin):
        """The faults that lasted at a time or began after it."""
        return [fault for fault in self.all if fault["end"] >= begin]


class Upload:
    """A bundle that is attached, and how far the servers have acknowledged it."""

    def __init__(self, number, data):
        self.data, self.id, self.report = data, str(uuid.uuid4()), f"CLUSTER-{number % 10}"
        # The address of a resumable upload, once it was begun.
        self.location = None
        self.offset = 0
        self.progress = time.monotonic()


class Clients:
    """Attaches bundles in four dialects until each is acknowledged; deletes some of them, and reads others."""

    def __init__(self, url, token, bundles, faults):
        self.url, self.token, self.bundles, self.faults = url, token, bundles, faults
        # The digests of all bundles that were sent, by UUID; of those, the acknowledged and the deleted ones.
        self.sent, self.acknowledged, self.deleted = {}, set(), set()
        # How often requests failed, by status or kind of error.
        self.failures = collections.Counter()
        # The longest time until an upload that no fault met went on.
        self.longest = 0
        # The longest time that an upload waited during or after each kind of fault, with the dialect.
        self.waits = {}
        self.reads = 0
        self.errors = []
        self.lock = threading.Lock()

    def run(self, count, threads=8):
        """Starts the clients. Returns the threads."""
        numbers = iter(range(count))

        def repeat():
            try:
                while not self.errors:
                    with self.lock:
                        number = next(numbers, None)
                    if number is None:
                        return
                    self.attach(number)
            except BaseException as error:
                self.errors.append(error)

        running = [threading.Thread(target=repeat, daemon=True) for _ in range(threads)]
        for thread in running:
            thread.start()
        return running

    def attach(self, number):
        upload = Upload(number, self.bundles[number % len(self.bundles)])
        self.sent[upload.id] = digest(upload.data)
        # The bundles' sizes and the dialects are combined in all ways.
        dialect = [self.put, self.form, self.tus, self.draft][number // len(self.bundles) % 4]
        self.until_answered(lambda: dialect(upload), upload.id)
        self.went_on(upload, dialect.__name__)
        with self.lock:
            self.acknowledged.add(upload.id)
        if number % 10 == 3:
            # Some servers have its bytes when it is deleted.
            for _ in range(3):
                self.read(upload.id)
            self.delete(upload.id)
            for _ in range(3):
                assert not self.read(upload.id), f"{upload.id} was read after its deletion"
        if number % 10 == 6:
            self.read(random.choice(list(self.sent)))

    def until_answered(self, request, what):
        end = time.monotonic() + 120
        while True:
            try:
                return request()
            except (OSError, Refused) as error:
                # Any other refusal would be final. A server answers 409 if one that was stopped has stored more bytes.
                assert (not isinstance(error, Refused) or error.status in (502, 503, 504)
                        or "mismatching-upload-offset" in str(error)), error
                with self.lock:
                    self.failures[error.status if isinstance(error, Refused) else type(error).__name__] += 1
                assert time.monotonic() < end, f"{what} is not answered: {error}"
                time.sleep(0.1)

    def went_on(self, upload, dialect):
        """Notes that more of an upload is acknowledged."""
        begin, now = upload.progress, time.monotonic()
        met = self.faults.since(begin)
        upload.progress = now
        with self.lock:
            if met:
                name = met[0]["name"] if len(met) == 1 else "several faults"
                wait = now - max(begin, met[0]["begin"])
                self.waits[name] = max(self.waits.get(name, (0, "")), (wait, dialect))
            else:
                self.longest = max(self.longest, now - begin)

    # The dialects.

    def put(self, upload):
        call(f"{self.url}/v1/reports/{upload.report}/snapshots/{upload.id}", "PUT", upload.data,
             {"Content-Type": "application/zip"}, self.token)

    def form(self, upload):
        edge = uuid.uuid4().hex
        body = (f"--{edge}\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nfrom a form\r\n"
                f"--{edge}\r\nContent-Disposition: form-data; name=\"snapshot\"; filename=\"a.zip\"\r\n"
                f"Content-Type: application/zip\r\n\r\n").encode() + upload.data + f"\r\n--{edge}--\r\n".encode()
        call(f"{self.url}/v1/reports/{upload.report}/snapshots/{upload.id}", "PUT", body,
             {"Content-Type": f"multipart/form-data; boundary={edge}"}, self.token)

    def tus(self, upload):
        version = {"Tus-Resumable": "1.0.0"}
        encode = lambda text: base64.b64encode(text.encode()).decode()
        self.resume(upload, "tus", version, lambda: call(
            f"{self.url}/v1/uploads", "POST", b"",
            {**version, "Upload-Length": str(len(upload.data)),
             "Upload-Metadata": f"report {encode(upload.report)},id {encode(upload.id)}"}, self.token),
            lambda end: {"Content-Type": "application/offset+octet-stream"})

    def draft(self, upload):
        version = {"Upload-Draft-Interop-Version": "6"}
        self.resume(upload, "draft", version, lambda: call(
            f"{self.url}/v1/reports/{upload.report}/snapshots/{upload.id}", "PUT", b"",
            {**version, "Content-Type": "application/zip", "Upload-Complete": "?0",
             "Upload-Length": str(len(upload.data))}, self.token),
            lambda end: {"Content-Type": "application/partial-upload",
                         "Upload-Complete": "?1" if end == len(upload.data) else "?0"})

    def resume(self, upload, dialect, version, create, fields):
        """Appends a third of the bundle with each request, to any server. Asks for the offset after a failure."""
        if not upload.location:
            location = create()[0]["Location"]
            upload.location = self.url + location[location.index("/v1/"):]
            self.went_on(upload, dialect)
        else:
            offset = int(call(upload.location, "HEAD", fields=version, token=self.token)[0]["Upload-Offset"])
            assert offset >= upload.offset, f"{upload.id}: acknowledged bytes are lost"
            if offset > upload.offset:
                self.went_on(upload, dialect)
            upload.offset = offset
        while True:
            # An empty request at the end asks for the outcome of an upload that has all of its bytes.
            end = min(upload.offset + max(len(upload.data) // 3, 1), len(upload.data))
            call(upload.location, "PATCH", upload.data[upload.offset : end],
                 {**version, **fields(end), "Upload-Offset": str(upload.offset)}, self.token)
            upload.offset = end
            self.went_on(upload, dialect)
            if end == len(upload.data):
                return

    # What other clients do.

    def delete(self, identifier):
        self.until_answered(lambda: self.request_deletion(identifier), f"the deletion of {identifier}")
        with self.lock:
            self.acknowledged.discard(identifier)
            self.deleted.add(identifier)

    def request_deletion(self, identifier):
        try:
            call(f"{self.url}/v1/snapshots/{identifier}", "DELETE", token=self.token)
        except Refused as error:
            # An earlier request had no answer, and succeeded.
            if error.status not in (404, 410):
                raise

    def read(self, identifier):
        """Reads a bundle, which is there as a whole or not at all. Returns whether it is there."""
        try:
            _, data = call(f"{self.url}/v1/snapshots/{identifier}.zip", token=self.token)
        except Incomplete:
            # The server was killed or stopped while it sent the bundle.
            return True
        except OSError:
            return False
        except Refused as error:
            assert error.status in (404, 410, 502, 503, 504), error
            return False
        assert digest(data) == self.sent[identifier], f"{identifier} was read with other bytes"
        with self.lock:
            self.reads += 1
        return True

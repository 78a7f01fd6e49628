"""The parts of a cluster for tests: Ceph, PostgreSQL, servers that share their snapshots, and HAProxy, all on the loopback
address and in one folder. Every process ends with the one that started it.

Needs Debian's packages ceph-mon ceph-osd radosgw ceph-common postgresql haproxy.
"""
import collections, glob, hashlib, hmac, http.client, os, re, select, shutil, signal, socket, subprocess, tempfile, time
import urllib.error, urllib.request

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait(condition, what, seconds=60):
    """Waits for `condition`. Returns the seconds that it took."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        if condition():
            return time.monotonic() - begin
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def require(value, sentence):
    """Ends the program with a sentence if the machine lacks something."""
    if not value:
        raise SystemExit(sentence)
    return value


def find(program):
    path = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")
    return require(path, f"{program} is not installed; make cluster-test installs it.")


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


class Incomplete(OSError):
    """A successful response broke off, so that its length differs from the stated one."""


def call(url, method="GET", data=None, fields={}, token=None, timeout=60):
    """Returns fields and body of a response. Raises Refused for 4xx and 5xx, Incomplete, and another OSError if there
    is no response."""
    request = urllib.request.Request(url, data=data, method=method, headers=dict(fields))
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return response.headers, response.read()
    except urllib.error.HTTPError as error:
        raise Refused(error.code, error.read(300).decode(errors="replace")) from None
    except http.client.IncompleteRead as error:
        raise Incomplete(f"{url}: {error}") from None


class Work:
    """The folder of all parts, which is removed at the end. It has a short path, because the names of Unix sockets are
    short, and is not in memory, because Ceph writes around the page cache."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="cluster-", dir="/var/tmp")
        # PostgreSQL refuses to run as root, and runs as a user of its own.
        os.chmod(self.path, 0o711)

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        if failure:
            for path in self.logs():
                with open(path, "rb") as file:
                    print(f"--- {os.path.basename(path)}\n{file.read()[-2000:].decode(errors='replace')}", flush=True)
        shutil.rmtree(self.path, ignore_errors=True)

    def logs(self):
        return sorted(glob.glob(f"{self.path}/*.log"))


class Program:
    """A process that ends with this one. What it writes to stderr is added to a log."""

    def __init__(self, work, name, arguments, environment={}, output=subprocess.PIPE):
        self.name = name
        with open(f"{work.path}/{name}.log", "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *arguments], stdout=output, stderr=log, cwd=work.path, bufsize=0,
                env={**os.environ, **environment})

    def line(self):
        """The next line on stdout; empty if the program has ended. Waits at most two minutes."""
        ready, _, _ = select.select([self.process.stdout], [], [], 120)
        assert ready, f"{self.name} writes no line"
        return self.process.stdout.readline().decode().strip()

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        """Sends a signal, and waits for the end. Returns the exit status."""
        self.send(number)
        return self.process.wait(60)


class ObjectStore:
    """Ceph, behind a proxy that counts requests and lets some of them fail."""

    bucket = "cluster"

    def __init__(self, work, daemons=1):
        self.work, self.folder, self.port = work, f"{work.path}/ceph", free_port()
        find("radosgw")
        self.program = Program(work, "ceph", [f"{root}/Tests/S3Testing/start-ceph", self.folder, str(daemons)])
        line = require(self.program.line(), "Ceph does not start on this machine; its log is above.")
        self.gateway, self.access, self.secret = line.split()
        self.make_bucket()
        self.proxy = None
        self.fail(0)

    def make_bucket(self):
        """Sends a request that is signed by hand (AWS Signature Version 4): Debian's curl signs it differently."""
        host, empty = self.gateway.split("//")[1], hashlib.sha256(b"").hexdigest()
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        scope = f"{now[:8]}/us-east-1/s3/aws4_request"
        canonical = (f"PUT\n/{self.bucket}\n\nhost:{host}\nx-amz-content-sha256:{empty}\nx-amz-date:{now}\n\n"
                     f"host;x-amz-content-sha256;x-amz-date\n{empty}")
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = b"AWS4" + self.secret.encode()
        for word in (*scope.split("/"), text):
            key = hmac.digest(key, word.encode(), "sha256")
        call(f"{self.gateway}/{self.bucket}", "PUT", b"", {
            "x-amz-date": now, "x-amz-content-sha256": empty,
            "Authorization": f"AWS4-HMAC-SHA256 Credential={self.access}/{scope}, "
                             f"SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature={key.hex()}"})

    @property
    def environment(self):
        """The settings of a server that uses the store."""
        return {"AWS_ACCESS_KEY_ID": self.access, "AWS_SECRET_ACCESS_KEY": self.secret,
                "SNAPSHOT_SERVER_SHARED_STORE": f"s3://{self.bucket}/test",
                "SNAPSHOT_SERVER_SHARED_ENDPOINT": f"http://127.0.0.1:{self.port}"}

    def fail(self, percent):
        """Lets a share of all requests fail, by a new proxy in the place of the old one."""
        if self.proxy:
            self.proxy.stop(signal.SIGKILL)
        with open(f"{self.work.path}/requests", "ab") as requests:
            self.proxy = Program(
                self.work, "store-proxy", [find("haproxy"), "-db", "-f", f"{root}/Tests/Cluster/object-store.cfg"],
                {"ADDRESS": f"127.0.0.1:{self.port}", "STORE": self.gateway.split("//")[1],
                 "FAULTS": str(round(percent * 10 / 3))}, output=requests)
        wait(lambda: listens(self.port), "the proxy of the object store listens")

    def requests(self):
        """The number of requests so far, by method, the kind of their key, and status."""
        with open(f"{self.work.path}/requests") as file:
            words = (line.split() for line in file)
            return collections.Counter(
                (method, re.match(r"/[^/]*/test/(\w*)|", target).group(1) or "bucket", status)
                for method, target, status in words)

    def kill(self, number):
        """Kills an object daemon."""
        with open(f"{self.folder}/run/osd.{number}") as file:
            os.kill(int(file.read()), signal.SIGKILL)

    def revive(self, number):
        """Starts an object daemon again."""
        arguments = ["ceph-osd", "-f", "-i", str(number), "-c", f"{self.folder}/ceph.conf", "--no-mon-config"]
        with open(f"{self.folder}/run/osd.{number}", "w") as file:
            file.write(str(Program(self.work, "ceph", arguments, output=subprocess.DEVNULL).process.pid))


class Database:
    """PostgreSQL, with one database."""

    def __init__(self, work):
        self.program = Program(
            work, "postgresql", [f"{root}/Tests/PostgreSQLTesting/start-postgresql", f"{work.path}/pg"])
        line = require(self.program.line(), "PostgreSQL does not start on this machine; its log is above.")
        self.port = line.split()[0]
        self.execute("CREATE DATABASE snapshots")

    def execute(self, *statements):
        commands = [word for statement in statements for word in ("-c", statement)]
        subprocess.run(["psql", "-qX", "-h", "127.0.0.1", "-p", self.port, "-U", "tests", "postgres", *commands],
                       check=True, capture_output=True)

    @property
    def environment(self):
        """The setting of a server that uses the database."""
        return {"SNAPSHOT_SERVER_SHARED_DATABASE": f"postgres://tests@127.0.0.1:{self.port}/snapshots"}

    def restart(self):
        """Stops the database, and returns once it has been started again."""
        self.program.send(signal.SIGUSR1)
        assert self.program.line(), "PostgreSQL did not start again"


class Server:
    """One server, which can be killed and started again."""

    def __init__(self, work, snapshot, number, environment):
        self.work, self.snapshot, self.number, self.environment = work, snapshot, number, environment
        self.folder, self.port = f"{work.path}/server{number}", free_port()
        self.start()

    def start(self):
        """Starts the server, as often as necessary: it can't start while the database or the object store fails."""
        for _ in range(100):
            self.program = Program(
                self.work, f"server{self.number}",
                [self.snapshot, "serve", "--port", str(self.port), "--storage", self.folder],
                # HAProxy would pass on interim responses, but not every other proxy.
                {"SNAPSHOT_SERVER_TRUSTED_PROXIES": "127.0.0.1", **self.environment})
            if self.program.line():
                return
            self.program.process.wait()
        raise AssertionError(f"server {self.number} does not start")

    def kill(self):
        self.program.stop(signal.SIGKILL)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def processor_seconds(self):
        """The processor time of the process so far."""
        with open(f"/proc/{self.program.process.pid}/stat") as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Balancer:
    """HAProxy with docker/haproxy.cfg, in front of up to three servers."""

    def __init__(self, work, ports, port=None):
        self.port = port or free_port()
        with open(f"{root}/docker/haproxy.cfg") as file:
            text = file.read().replace("bind :8080", f"bind 127.0.0.1:{self.port}")
        text, count = re.subn(
            r"server(\d):8080", lambda match: f"127.0.0.1:{ports[(int(match[1]) - 1) % len(ports)]}", text)
        assert count == 3, "docker/haproxy.cfg does not have three servers"
        path = f"{work.path}/haproxy-{self.port}.cfg"
        with open(path, "w") as file:
            file.write(text)
        self.program = Program(work, "haproxy", [find("haproxy"), "-db", "-q", "-f", path])
        wait(lambda: listens(self.port), "HAProxy listens")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

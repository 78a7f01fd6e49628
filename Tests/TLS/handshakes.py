"""Handshakes that are malformed, oversized, reordered, repeated or half: each must end in an alert or a closed connection.
After further rounds the server must have no more descriptors, and hardly more memory, than after the third one. `run`
starts this program.
"""

import os
import resource
import socket
import sys
import threading
import time

from tlslite.api import HandshakeSettings, TLSConnection
from tlslite.constants import ContentType, HandshakeType
from tlslite.messages import ClientHello, Message

PORT, PID = int(sys.argv[1]), int(sys.argv[2])
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
failures = []


def connect():
    connection = socket.create_connection(("127.0.0.1", PORT), timeout=20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def secure(highest=(3, 4)):
    settings = HandshakeSettings()
    settings.minVersion, settings.maxVersion = (3, 3), highest
    client = TLSConnection(connect())
    client.handshakeClientCert(settings=settings, serverName="localhost")
    return client


def answer(client):
    client.sendall(GET)
    return bytes(client.recv(12))


def hello(highest=(3, 4)):
    """The bytes of an ordinary ClientHello, as one record."""
    ours, theirs = socket.socketpair()
    settings = HandshakeSettings()
    settings.minVersion, settings.maxVersion = (3, 3), highest
    client = TLSConnection(ours)
    ours.settimeout(0.2)

    def attempt():
        try:
            client.handshakeClientCert(settings=settings, serverName="localhost")
        except Exception:  # It gets no answer.
            pass

    thread = threading.Thread(target=attempt)
    thread.start()
    theirs.settimeout(5)
    record = theirs.recv(65536)
    theirs.close()
    thread.join()
    return record


def record(kind, body, version=b"\x03\x03"):
    return bytes([kind]) + version + len(body).to_bytes(2, "big") + body


def end(connection):
    """What the server sends until it closes; `None` if it does not close in time."""
    received = b""
    try:
        while more := connection.recv(65536):
            received += more
    except ConnectionError:
        pass
    except TimeoutError:
        return None
    finally:
        connection.close()
    return received


def check(name, data, ends=True):
    """Sends `data`. The server must send a fatal alert, or close, and never an answer."""
    connection = connect()
    try:
        connection.sendall(data)
        if ends:
            connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    received = end(connection)
    if received is None:
        failures.append(f"{name}: the connection stays open")
    elif b"HTTP/1.1 200" in received:
        failures.append(f"{name}: the request was answered")
    outcome = "closed" if not received else f"alert {received[-1]}" if received[-7:-6] == b"\x15" else "ended"
    print(f"  {name}: {outcome}")


def check_secure(name, misbehave, highest=(3, 4)):
    """Does something wrong on an established connection, which must end it."""
    client = secure(highest)
    outcome = "ended"
    try:
        misbehave(client)
        client.sock.settimeout(20)
        while client.recv(4096):
            pass
    except TimeoutError:
        failures.append(f"{name}: the connection stays open")
    except Exception as error:
        outcome = str(error) or type(error).__name__
    finally:
        client.sock.close()
    print(f"  {name}: {outcome}")


def raw(client, kind, body):
    """Sends an encrypted message of a kind that is wrong at this time."""
    for _ in client._sendMsg(Message(kind, bytearray(body))):
        pass


def flood(client, kind, body, count):
    for _ in range(count):
        raw(client, kind, body)


def descriptors():
    return len(os.listdir(f"/proc/{PID}/fd"))


def memory():
    with open(f"/proc/{PID}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def misbehave():
    ordinary = hello()
    body = ordinary[5:]
    check("nothing", b"")
    check("half a record", ordinary[: len(ordinary) // 2])
    check("a record without its last byte", ordinary[:-1])
    check("a record of 2^14 + 1 bytes", record(22, bytes(2**14 + 1)))
    check("a message of 2^24 - 1 bytes", record(22, b"\x01\xff\xff\xff" + bytes(2**14 - 4)) * 20)
    check("an empty record", record(22, b""))
    check("200 empty records", record(22, b"") * 200)
    check("an unknown kind of record", record(99, b"\0\0"))
    check("an unknown kind of message", record(22, b"\x63\0\0\1\0"))
    check("data before the handshake", record(23, GET))
    check("an alert first", record(21, b"\x02\x28"))
    check("1000 warnings", record(21, b"\x01\x5a") * 1000)
    check("ChangeCipherSpec first", record(20, b"\x01") + ordinary)
    check("1000 ChangeCipherSpec", ordinary + record(20, b"\x01") * 1000)
    check("Finished first", record(22, b"\x14\0\0\x20" + bytes(32)))
    check("ClientKeyExchange first", record(22, b"\x10\0\0\x21\x20" + bytes(32)))
    check("two hellos in a row", ordinary + ordinary)
    check("a hello, then data in clear text", ordinary + record(23, GET))
    check("a hello of SSL 2", b"\x80\x2e\x01\0\x02\0\x15\0\0\0\x10" + bytes(37))
    check("a hello of SSL 3", record(22, body[:4] + b"\x03\0" + body[6:], b"\x03\0")[: len(ordinary)])
    for index in (0, 1, 3, 4, 43, 44, 76, 78, 79, len(body) - 1):
        check(f"byte {index} of the hello inverted", record(22, body[:index] + bytes([body[index] ^ 0xFF]) + body[index + 1 :]))
    for count in (1, 5, 40, 100):
        check(f"a hello without its last {count} bytes", record(22, body[:-count]))
    check("TLS 1.1 only", hello_of(b"\x03\x02"))

    ask = [HandshakeType.client_hello, 0, 0, 0]
    check_secure("renegotiation with an empty hello (TLS 1.2)", lambda c: raw(c, ContentType.handshake, ask), (3, 3))
    check_secure("renegotiation (TLS 1.2)", lambda c: raw(c, ContentType.handshake, hello((3, 3))[5:]), (3, 3))
    check_secure("a second hello (TLS 1.3)", lambda c: raw(c, ContentType.handshake, body))
    check_secure("Finished again", lambda c: raw(c, ContentType.handshake, b"\x14\0\0\x20" + bytes(32)))
    check_secure("1000 key updates", lambda c: flood(c, ContentType.handshake, b"\x18\0\0\x01\x01", 1000))
    check_secure("a malformed key update", lambda c: raw(c, ContentType.handshake, b"\x18\0\0\x01\x07"))
    check_secure("1000 empty records of data", lambda c: flood(c, ContentType.application_data, b"", 1000))
    check_secure("1000 warnings (TLS 1.2)", lambda c: flood(c, ContentType.alert, b"\x01\x5a", 1000), (3, 3))
    check_secure("an unencrypted record", lambda c: c.sock.sendall(record(23, bytes(100))))


def hello_of(version):
    """A hello whose only version is `version`."""
    message = ClientHello().create(tuple(version), bytearray(32), bytearray(0), [0xC02F, 0xC02B], None)
    return record(22, bytes(message.write()), b"\x03\x01")


def crowd():
    """A thousand handshakes that stop after a part of the hello, while requests are answered."""
    ordinary = hello()
    slow = [connect() for _ in range(1000)]
    client = secure()
    longest = 0
    for index, connection in enumerate(slow):
        connection.sendall(ordinary[: 1 + index % (len(ordinary) - 1)])
        if index % 20 == 0:
            began = time.monotonic()
            if not answer(client).startswith(b"HTTP/1.1 200"):
                failures.append("a request was not answered during slow handshakes")
            client = secure()
            longest = max(longest, time.monotonic() - began)
    print(f"  1000 slow handshakes: others waited {longest * 1000:.0f} ms at most, with a handshake of their own")
    if longest > 2:
        failures.append(f"slow handshakes held up others for {longest:.1f} s")
    for connection in slow:
        if end(connection) is None:
            failures.append("a half handshake has no time limit")
            break


resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
for version in ((3, 3), (3, 4)):
    if not answer(secure(version)).startswith(b"HTTP/1.1 200"):
        failures.append("an ordinary client gets no answer")
# The allocator keeps what the first rounds needed, for the next ones.
use = []
for _ in range(int(os.environ.get("ROUNDS", "5"))):
    misbehave()
    crowd()
    for _ in range(100):
        if not use or descriptors() <= use[0][0] + 2:
            break
        time.sleep(0.2)
    use.append((descriptors(), memory()))
print("descriptors and memory after each round:", ", ".join(f"{count} and {size >> 10} KiB" for count, size in use))
before, after = use[2], use[-1]
if after[0] > before[0] + 2:
    failures.append("descriptors are left")
if after[1] > before[1] + (16 << 20):
    failures.append("memory is left")
if not answer(secure()).startswith(b"HTTP/1.1 200"):
    failures.append("an ordinary client gets no answer at the end")
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(1 if failures else 0)

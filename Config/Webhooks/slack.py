# Writes to a channel of Slack when a snapshot is attached.
# Needs standardwebhooks (PyPI), and in the environment WEBHOOK_SECRET and SLACK_WEBHOOK_URL (of an incoming webhook).
import collections, json, os, urllib.request
from wsgiref.simple_server import make_server
from standardwebhooks.webhooks import Webhook

seen = collections.deque(maxlen=10_000)

def tell(data):
    text = f"A snapshot was attached to {data['report']}: {data['links']['page']}"
    request = urllib.request.Request(os.environ["SLACK_WEBHOOK_URL"], json.dumps({"text": text}).encode(),
                                     {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=10).read()

def receive(environ, respond):
    body = environ["wsgi.input"].read(min(abs(int(environ["CONTENT_LENGTH"])), 20_000))
    headers = {name.removeprefix("HTTP_").replace("_", "-"): str(value) for name, value in environ.items()}
    event, id = Webhook(os.environ["WEBHOOK_SECRET"]).verify(body, headers), headers["WEBHOOK-ID"]
    if event["type"] == "snapshot.attached" and id not in seen:
        tell(event["data"])  # After an error the answer is 500, and the server sends the event again.
        seen.append(id)
    respond("204 No Content", [])
    return []

make_server("127.0.0.1", int(os.environ.get("PORT", "8000")), receive).serve_forever()

# Comments on issue BUG-123 in Jira when a snapshot is attached to BUG-123.
# Needs standardwebhooks (PyPI), and in the environment WEBHOOK_SECRET, JIRA_URL, JIRA_USER, JIRA_TOKEN.
import base64, collections, json, os, urllib.parse, urllib.request
from wsgiref.simple_server import make_server
from standardwebhooks.webhooks import Webhook

seen = collections.deque(maxlen=10_000)

def tell(data):
    login = base64.b64encode(f"{os.environ['JIRA_USER']}:{os.environ['JIRA_TOKEN']}".encode()).decode()
    request = urllib.request.Request(
        f"{os.environ['JIRA_URL']}/rest/api/2/issue/{urllib.parse.quote(data['report'], safe='')}/comment",
        json.dumps({"body": f"A snapshot was attached: {data['links']['page']}"}).encode(),
        {"Authorization": f"Basic {login}", "Content-Type": "application/json"})
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

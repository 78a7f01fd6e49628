# Comments on issue 123 at GitLab when a snapshot is attached to BUG-123.
# Needs standardwebhooks (PyPI), and in the environment WEBHOOK_SECRET, GITLAB_PROJECT, GITLAB_TOKEN.
import collections, json, os, re, urllib.request
from wsgiref.simple_server import make_server
from standardwebhooks.webhooks import Webhook

seen = collections.deque(maxlen=10_000)

def tell(data):
    issue = re.search("[0-9]+$", data["report"])
    if issue is None: return
    url, project = os.environ.get("GITLAB_URL", "https://gitlab.com"), os.environ["GITLAB_PROJECT"].replace("/", "%2F")
    request = urllib.request.Request(
        f"{url}/api/v4/projects/{project}/issues/{issue[0]}/notes",
        json.dumps({"body": f"A snapshot was attached: {data['links']['page']}"}).encode(),
        {"PRIVATE-TOKEN": os.environ["GITLAB_TOKEN"], "Content-Type": "application/json"})
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

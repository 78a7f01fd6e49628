# Comments on issue BUG-123 in Linear when a snapshot is attached to BUG-123.
# Needs standardwebhooks (PyPI), and in the environment WEBHOOK_SECRET and LINEAR_API_KEY.
import collections, json, os, urllib.request
from wsgiref.simple_server import make_server
from standardwebhooks.webhooks import Webhook

seen = collections.deque(maxlen=10_000)

def tell(data):
    query = "mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success } }"
    comment = {"issueId": data["report"], "body": f"A snapshot was attached: {data['links']['page']}"}
    request = urllib.request.Request(
        os.environ.get("LINEAR_API", "https://api.linear.app/graphql"),
        json.dumps({"query": query, "variables": {"input": comment}}).encode(),
        {"Authorization": os.environ["LINEAR_API_KEY"], "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        if "errors" in (answer := json.load(response)): raise OSError(answer["errors"])

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

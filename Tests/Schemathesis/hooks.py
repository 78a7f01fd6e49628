"""Bodies for schemathesis that the server takes: real bundles, small ones."""

import hashlib
import io
import json
import zipfile

import schemathesis
from hypothesis import strategies as st


def bundle(snapshot, data):
    """A snapshot bundle of one recording."""
    path = "recordings/news"
    time = "2026-11-21T12:00:00.000Z"
    manifest = {
        "formatVersion": 1,
        "id": str(snapshot),
        "createdAt": time,
        "application": {"identifier": "com.example.news", "version": "3.1.4", "build": "1"},
        "device": {"model": "x86_64", "system": "Linux", "systemVersion": "6", "locale": "en_GB"},
        "modules": [{"name": "News", "files": ["news"]}],
        "recordings": [
            {
                "identifier": "news",
                "path": path,
                "size": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "recordedAt": time,
            }
        ],
        "redactions": [],
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr(path, data)
    return file.getvalue()


schemathesis.openapi.media_type("application/zip", st.builds(bundle, st.uuids(), st.binary(max_size=1000)))


@schemathesis.serializer("application/partial-upload", "application/offset+octet-stream")
def piece(context, value):
    """The bytes of a piece of an upload, whatever the schema made of them."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.hook
def before_call(context, case, kwargs):
    """No digest that somebody made up is that of the content: most requests go without."""
    if case.headers and hash(str(case.path_parameters)) % 8:
        for name in [name for name in case.headers if name.lower() in ("repr-digest", "content-digest")]:
            del case.headers[name]

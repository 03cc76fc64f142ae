"""What every example needs of HTTP, with Python's standard library alone."""

import json
import os
import sys
import urllib.error
import urllib.request

#: Another gateway, model and key: `TOOLWIRE_URL=https://... TOOLWIRE_MODEL=anthropic/claude-... TOOLWIRE_KEY=tw_...`
URL = os.environ.get("TOOLWIRE_URL", "http://127.0.0.1:8080/v1")
MODEL = os.environ.get("TOOLWIRE_MODEL", "demo/openai")
KEY = os.environ.get("TOOLWIRE_KEY", "none")


def post(path, body, headers=None):
    """The open answer to a request. Its error, if it is one, ends the program."""
    own = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), own | (headers or {}))
    try:
        return urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        sys.exit(f"{error.code}: {error.read().decode()}")


def ask(path, body, headers=None):
    """The JSON answer to a request."""
    with post(path, body, headers) as answer:
        return json.load(answer)


def stream(path, body):
    """The objects of a streamed answer, as they come."""
    with post(path, body | {"stream": True}) as answer:
        for line in answer:
            if line.startswith(b"data: {"):
                yield json.loads(line[6:])

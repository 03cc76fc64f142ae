"""GitHub Copilot's command line, with a provider of one's own and nothing of GitHub's.

name: Copilot CLI
install: npm @github/copilot@1.0.102
ways: chat-streamed, responses-streamed, responses-websocket, messages-streamed
note: [demo call bash {"command": "echo WORD >> log.txt; echo noted WORD", "description": "notes it"}]
broken: [demo call bash {"command": "echo it is broken; exit 3", "description": "fails"}]
picture: [demo call view {"path": "HOME/red.png"}]
"""

import base64
import os
import subprocess
import sys

from tools import BASE, CLIENT, PNG, ROOT, TURNS, WAY

HOME = os.environ["HOME"]
with open(f"{HOME}/red.png", "wb") as picture:
    picture.write(base64.b64decode(PNG))
messages = WAY == "messages-streamed"
os.environ |= {
    "XDG_CACHE_HOME": f"{CLIENT}/cache",  # it unpacks itself there, once
    "COPILOT_OFFLINE": "true",
    "COPILOT_PROVIDER_BASE_URL": ROOT if messages else BASE,
    "COPILOT_PROVIDER_API_KEY": "none",
    "COPILOT_PROVIDER_TYPE": "anthropic" if messages else "openai",
    "COPILOT_PROVIDER_WIRE_API": "responses" if "responses" in WAY else "completions",
    "COPILOT_PROVIDER_TRANSPORT": "websockets" if WAY == "responses-websocket" else "http",
}
for number, (model, prompt) in enumerate(TURNS):
    command = [f"{CLIENT}/node_modules/.bin/copilot", *(["--continue"] if number else []), "--allow-all"]
    environment = os.environ | {"COPILOT_MODEL": model}
    if status := subprocess.run([*command, "-p", prompt.replace("HOME", HOME)], env=environment).returncode:
        sys.exit(status)

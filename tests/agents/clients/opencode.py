"""OpenCode, by the AI SDK's provider for compatible hosts.

name: OpenCode
install: npm opencode-ai@1.18.33
ways: chat-streamed
known: cut gemini: OpenCode's: it runs a whole call of a stream that breaks behind it, and asks again
note: [demo call bash {"command": "echo WORD >> log.txt; echo noted WORD", "description": "notes it"}]
broken: [demo call bash {"command": "echo it is broken; exit 3", "description": "fails"}]
picture: [demo call read {"filePath": "HOME/red.png"}]
"""

import base64
import json
import os
import subprocess
import sys

from tools import BASE, CLIENT, PNG, TURNS

HOME = os.environ["HOME"]
with open(f"{HOME}/red.png", "wb") as picture:
    picture.write(base64.b64decode(PNG))
MODELS = {
    model: {"name": model, "attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}
    for model, _ in TURNS
}
OPTIONS = {"baseURL": BASE, "apiKey": "none"}
PROVIDER = {"npm": "@ai-sdk/openai-compatible", "name": "toolwire", "options": OPTIONS, "models": MODELS}
os.makedirs(f"{HOME}/.config/opencode")
with open(f"{HOME}/.config/opencode/opencode.json", "w") as config:
    json.dump({"provider": {"toolwire": PROVIDER}, "permission": "allow", "autoupdate": False}, config)
for number, (model, prompt) in enumerate(TURNS):
    command = [f"{CLIENT}/node_modules/.bin/opencode", "run", *(["-c"] if number else []), "-m", f"toolwire/{model}"]
    # An argument with spaces would reach the model in quotation marks; standard input reaches it as it is.
    if status := subprocess.run(command, input=prompt.replace("HOME", HOME), text=True).returncode:
        sys.exit(status)

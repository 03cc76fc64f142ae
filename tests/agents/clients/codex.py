"""Codex, which speaks OpenAI's Responses API and nothing else.

name: Codex
install: npm @openai/codex@0.171.0
ways: responses-streamed, responses-websocket
note: [demo call exec_command {"cmd": "echo WORD >> log.txt; echo noted WORD"}]
broken: [demo call exec_command {"cmd": "echo it is broken; exit 3"}]
"""

import os
import subprocess
import sys
import urllib.request

from tools import BASE, CLIENT, TURNS, WAY

HOME = os.environ["HOME"]
os.environ |= {"CODEX_HOME": HOME, "TOOLWIRE_KEY": "none"}
with open(f"{HOME}/models.json", "wb") as catalogue, urllib.request.urlopen(f"{BASE}/models") as answer:
    catalogue.write(answer.read())
for number, (model, prompt) in enumerate(TURNS):
    with open(f"{HOME}/config.toml", "w") as config:
        config.write(f"""\
model = "{model}"
model_provider = "toolwire"
model_catalog_json = "{HOME}/models.json"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.toolwire]
name = "toolwire"
base_url = "{BASE}"
env_key = "TOOLWIRE_KEY"
wire_api = "responses"
supports_websockets = {"true" if WAY == "responses-websocket" else "false"}
request_max_retries = 1
stream_max_retries = 1
""")
    command = [f"{CLIENT}/node_modules/.bin/codex", "exec", *(["resume", "--last"] if number else [])]
    if status := subprocess.run([*command, "--skip-git-repo-check", prompt]).returncode:
        sys.exit(status)

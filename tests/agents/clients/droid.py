"""Droid, with its own models, each by the API that their provider names.

name: Droid
install: npm @factory/cli-linux-x64@0.225.2
ways: chat-streamed, responses-streamed, messages-streamed
note: [demo call Execute {"command":"echo WORD >> log.txt; echo noted WORD","riskLevel":"low","riskLevelReason":"no"}]
broken: [demo call Execute {"command":"echo it is broken; exit 3","riskLevel":"low","riskLevelReason":"no"}]
seconds: 240
known: 429 *: Droid's: it says of every failure that the run failed, and no more
known: 500 *: Droid's: it says of every failure that the run failed, and no more
known: switch *: Droid's: without an account of its own it goes on with no session
"""

import glob
import json
import os
import subprocess
import sys

from tools import BASE, CLIENT, ROOT, TURNS, WAY

HOME = os.environ["HOME"]
PROVIDER, URL = {
    "chat": ("generic-chat-completion-api", BASE),
    "responses": ("openai", BASE),
    "messages": ("anthropic", ROOT),
}[WAY.removesuffix("-streamed")]
MODEL = {"provider": PROVIDER, "baseUrl": URL, "apiKey": "none", "maxOutputTokens": 8192}
os.mkdir(f"{HOME}/.factory")
with open(f"{HOME}/.factory/settings.json", "w") as settings:
    json.dump({"customModels": [MODEL | {"model": model, "displayName": model} for model in dict(TURNS)]}, settings)
for model, prompt in TURNS:
    command = [f"{CLIENT}/node_modules/@factory/cli-linux-x64/bin/droid", "exec", "--auto", "high"]
    for session in glob.glob(f"{HOME}/.factory/sessions/**/*.jsonl", recursive=True):
        command += ["--session-id", os.path.basename(session).removesuffix(".jsonl")]
    if status := subprocess.run([*command, "-m", f"custom:{model}", prompt]).returncode:
        sys.exit(status)

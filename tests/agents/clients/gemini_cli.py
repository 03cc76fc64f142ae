"""Gemini CLI, which speaks Google's API.

name: Gemini CLI
install: npm @google/gemini-cli@0.61.0
ways: gemini-streamed
known: switch *: Gemini CLI's: when it resumes it sends each result twice, which Google refuses as well
note: [demo call run_shell_command {"command": "echo WORD >> log.txt; echo noted WORD"}]
broken: [demo call run_shell_command {"command": "echo it is broken; exit 3"}]
"""

import json
import os
import subprocess
import sys

from tools import CLIENT, ROOT, TURNS

os.makedirs(f"{os.environ['HOME']}/.gemini")
with open(f"{os.environ['HOME']}/.gemini/settings.json", "w") as settings:
    json.dump({"security": {"auth": {"selectedType": "gemini-api-key"}}}, settings)
os.environ |= {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": ROOT, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
for number, (model, prompt) in enumerate(TURNS):
    command = [f"{CLIENT}/node_modules/.bin/gemini", *(["--resume", "latest"] if number else []), "--yolo"]
    if status := subprocess.run([*command, "-m", model, "-p", prompt]).returncode:
        sys.exit(status)

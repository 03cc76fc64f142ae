"""Cline, by its command line.

name: Cline
install: npm cline@3.0.65
ways: chat-streamed
known: switch *: Cline's: a session is resumed in its terminal interface only: `--id` drops the prompt
note: [demo call run_commands {"commands": ["echo WORD >> log.txt; echo noted WORD"]}]
broken: [demo call run_commands {"commands": ["echo it is broken; exit 3"]}]
"""

import json
import subprocess
import sys

from tools import BASE, CLIENT, TURNS

PROGRAM = f"{CLIENT}/node_modules/.bin/cline"
for number, (model, prompt) in enumerate(TURNS):
    subprocess.run([PROGRAM, "auth", "-p", "openai-compatible", "-k", "none", "-b", BASE, "-m", model], check=True)
    command = [PROGRAM, "--json", "-P", "openai-compatible", "-m", model]
    if number:
        history = subprocess.run([PROGRAM, "history", "--json"], capture_output=True, check=True).stdout
        command += ["--id", json.loads(history)[0]["sessionId"]]
    if status := subprocess.run([*command, prompt]).returncode:
        sys.exit(status)

"""Qwen Code, over Chat Completions.

name: Qwen Code
install: npm @qwen-code/qwen-code@0.24.4
ways: chat-streamed
note: [demo call run_shell_command {"command": "echo WORD >> log.txt; echo noted WORD", "is_background": false}]
broken: [demo call run_shell_command {"command": "echo it is broken; exit 3", "is_background": false}]
"""

import os
import subprocess
import sys

from tools import BASE, CLIENT, TURNS

os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": BASE}
for number, (model, prompt) in enumerate(TURNS):
    command = [f"{CLIENT}/node_modules/.bin/qwen", *(["--continue"] if number else []), "--yolo"]
    os.environ["OPENAI_MODEL"] = model
    if status := subprocess.run([*command, "--auth-type", "openai", "-m", model, "-p", prompt]).returncode:
        sys.exit(status)

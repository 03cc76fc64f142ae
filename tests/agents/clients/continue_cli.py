"""Continue, by its command line `cn`, which tries eleven times, for up to two minutes, whatever it is configured to.

name: Continue
install: npm @continuedev/cli@1.5.47
ways: chat-streamed
seconds: 300
note: [demo call Bash {"command": "echo WORD >> log.txt; echo noted WORD"}]
broken: [demo call Bash {"command": "echo it is broken; exit 3"}]
"""

import json
import os
import subprocess
import sys

from tools import BASE, CLIENT, TURNS

CONFIG = f"{os.environ['HOME']}/config.yaml"
for number, (model, prompt) in enumerate(TURNS):
    entry = {"name": "toolwire", "provider": "openai", "model": model, "apiBase": BASE, "apiKey": "none"}
    entry |= {"roles": ["chat", "edit"], "capabilities": ["tool_use"]}
    with open(CONFIG, "w") as config:  # JSON is YAML
        json.dump({"name": "toolwire", "version": "1.0.0", "schema": "v1", "models": [entry]}, config)
    command = [f"{CLIENT}/node_modules/.bin/cn", "--config", CONFIG, "--auto", *(["--resume"] if number else [])]
    if status := subprocess.run([*command, "-p", prompt]).returncode:
        sys.exit(status)

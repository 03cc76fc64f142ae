"""Claude Code, which speaks Anthropic's API and nothing else.

name: Claude Code
install: npm @anthropic-ai/claude-code@2.1.332
ways: messages-streamed
note: [demo call Bash {"command": "echo WORD >> log.txt; echo noted WORD", "description": "notes it"}]
broken: [demo call Bash {"command": "echo it is broken; exit 3", "description": "fails"}]
picture: [demo call Read {"file_path": "HOME/red.png"}]
"""

import base64
import os
import subprocess
import sys

from tools import CLIENT, PNG, ROOT, TURNS

HOME = os.environ["HOME"]
with open(f"{HOME}/red.png", "wb") as picture:
    picture.write(base64.b64decode(PNG))
os.environ |= {
    "ANTHROPIC_BASE_URL": ROOT,
    "ANTHROPIC_AUTH_TOKEN": "none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
}
for number, (model, prompt) in enumerate(TURNS):
    command = [
        f"{CLIENT}/node_modules/.bin/claude",
        *(["-c"] if number else []),
        "--allowedTools",
        "Bash,Read,Edit,Write",
    ]
    command += ["--add-dir", HOME, "-p", prompt.replace("HOME", HOME)]
    if status := subprocess.run(command, env=os.environ | {"ANTHROPIC_MODEL": model}).returncode:
        sys.exit(status)

"""Goose, by its providers for three APIs; its program comes with the packages of its terminal interface.

name: Goose
install: npm @aaif/goose-binary-linux-x64@1.52.0
ways: chat-streamed, messages-streamed, gemini-streamed
note: [demo call shell {"command": "echo WORD >> log.txt; echo noted WORD"}]
broken: [demo call shell {"command": "echo it is broken; exit 3"}]
"""

import os
import subprocess
import sys

from tools import CLIENT, ROOT, TURNS, WAY

PROVIDER, PREFIX = {
    "chat": ("openai", "OPENAI"),
    "messages": ("anthropic", "ANTHROPIC"),
    "gemini": ("google", "GOOGLE"),
}[WAY.removesuffix("-streamed")]
os.environ |= {f"{PREFIX}_HOST": ROOT, f"{PREFIX}_API_KEY": "none", "GOOSE_DISABLE_KEYRING": "1"}
# A session that is resumed keeps its model, unless it is told one.
RUN = [f"{CLIENT}/node_modules/@aaif/goose-binary-linux-x64/bin/goose", "run", "--with-builtin", "developer"]
for number, (model, prompt) in enumerate(TURNS):
    chosen = ["--provider", PROVIDER, "--model", model, *(["--resume"] if number else [])]
    if status := subprocess.run([*RUN, *chosen, "--text", prompt]).returncode:
        sys.exit(status)

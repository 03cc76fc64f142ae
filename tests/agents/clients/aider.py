"""aider, which has no tools: it edits files by what the model says, here in blocks that append to a file.

name: aider
install: pip aider-chat==0.86.2
ways: chat, chat-streamed
seconds: 300
known: cut chat-streamed: aider's: it makes the whole edits of an answer that broke, once it has given up asking again
note: [demo say "log.txt\n```\n<<<<<<< SEARCH\n=======\nWORD\n>>>>>>> REPLACE\n```\nnoted WORD\n"]
broken: [demo say "log.txt\n```\n<<<<<<< SEARCH\nno such line\n=======\nnothing\n>>>>>>> REPLACE\n```\n"]
"""

import os
import subprocess
import sys

from tools import BASE, CLIENT, STREAMED, TURNS

HOME = os.environ["HOME"]
os.environ |= {"OPENAI_API_BASE": BASE, "OPENAI_API_KEY": "none"}
OPTIONS = ["--edit-format", "diff", "--yes-always", "--no-git", "--no-check-update", "--no-show-model-warnings"]
OPTIONS += ["--no-fancy-input", "--no-pretty", "--no-analytics", "--no-gitignore", "--map-tokens", "0"]
OPTIONS += ["--chat-history-file", f"{HOME}/chat.md", "--input-history-file", f"{HOME}/input"]
OPTIONS += ["--stream" if STREAMED else "--no-stream"]
# One program for the conversation: each start costs five seconds of processor, most of them litellm's import.
lines = [line for name, prompt in TURNS for line in (f"/model openai/{name}", *prompt.split(" >> "))]
command = [f"{CLIENT}/bin/aider", "--model", f"openai/{TURNS[0][0]}", *OPTIONS, "log.txt"]
sys.exit(subprocess.run(command, input="\n".join(lines), text=True).returncode)

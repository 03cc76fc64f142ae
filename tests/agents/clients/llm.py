"""Simon Willison's llm, with functions of a file.

name: llm
install: pip llm==0.36
ways: chat-streamed, chat
"""

import os
import subprocess
import sys

from tools import BASE, CLIENT, STREAMED, TURNS

HOME = os.environ["HOME"]
os.environ["LLM_USER_PATH"] = HOME
with open(f"{HOME}/extra-openai-models.yaml", "w") as config:
    for model in dict(TURNS):
        config.write(f"- model_id: {model}\n  model_name: {model}\n  api_base: {BASE}\n  supports_tools: true\n")
FUNCTIONS = (
    f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); from tools import broken, note"
)
for number, (model, prompt) in enumerate(TURNS):
    command = [f"{CLIENT}/bin/llm", *(["-c"] if number else []), "-m", model, "--key", "none", "--functions", FUNCTIONS]
    if status := subprocess.run([*command, *([] if STREAMED else ["--no-stream"]), prompt]).returncode:
        sys.exit(status)

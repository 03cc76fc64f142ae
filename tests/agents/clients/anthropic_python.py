"""Anthropic's SDK for Python, with its tool runner.

name: anthropic for Python (tool runner)
install: pip anthropic==2.14.0
ways: messages, messages-streamed
picture: [demo call picture {}]
"""

from anthropic import Anthropic, beta_tool
from tools import PNG, ROOT, STREAMED, TURNS, broken, note

CLIENT = Anthropic(base_url=ROOT, api_key="none", max_retries=1, timeout=30)


@beta_tool
def picture() -> list:
    """Takes a picture."""
    return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]


history = []
for model, prompt in TURNS:
    history.append({"role": "user", "content": prompt})
    tools = [beta_tool(note), beta_tool(broken), picture]
    runner = CLIENT.beta.messages.tool_runner(
        model=model, max_tokens=2000, messages=list(history), tools=tools, stream=STREAMED
    )
    for turn in runner:
        message = turn.get_final_message() if STREAMED else turn
        history.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
        if results := runner.generate_tool_call_response():
            history.append(results)
    print("".join(block.text for block in message.content if block.type == "text"))

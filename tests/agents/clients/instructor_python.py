"""instructor, which makes objects of calls: one by a named tool, several by any. It asks again where one is not valid.

name: instructor
install: pip instructor[anthropic]==1.17.0
ways: chat, chat-streamed, messages, messages-streamed
known: error-result chat-streamed: instructor's: behind a stream it asks again without the call that it refused
known: error-result messages-streamed: instructor's: behind a stream it asks again without the call that it refused
broken: [demo call note {"word": "too long a word"}]

It goes on with no results of its own, so each turn is a request, but for those that answer what it refuses.
"""

from collections.abc import Iterable

import instructor
from anthropic import Anthropic
from openai import OpenAI
from pydantic import BaseModel, Field
from tools import BASE, ROOT, STREAMED, TURNS, WAY
from tools import note as noted


class note(BaseModel):  # noqa: N801 - the tool's name
    """Notes a word."""

    word: str = Field(max_length=9)


def client(several: bool):
    if WAY.startswith("chat"):
        mode = instructor.Mode.PARALLEL_TOOLS if several else instructor.Mode.TOOLS
        return instructor.from_openai(OpenAI(base_url=BASE, api_key="none", max_retries=1), mode=mode)
    mode = instructor.Mode.ANTHROPIC_PARALLEL_TOOLS if several else instructor.Mode.ANTHROPIC_TOOLS
    return instructor.from_anthropic(Anthropic(base_url=ROOT, api_key="none", max_retries=1), mode=mode)


for name, prompt in TURNS:
    for turn in [prompt] if "too long" in prompt else prompt.split(" >> "):
        several = turn.count("[demo call") > 1 and ">>" not in turn
        asked = {"model": name, "messages": [{"role": "user", "content": turn}], "max_tokens": 2000, "max_retries": 2}
        if several:
            made = list(client(several).create(response_model=Iterable[note], **asked))
        elif STREAMED:  # its tool has another name there
            asked["messages"][0]["content"] = turn.replace("call note", "call Partialnote")
            made = [list(client(several).create_partial(response_model=note, **asked))[-1]]
        else:
            made = [client(several).create(response_model=note, **asked)]
        print([noted(one.word) for one in made])

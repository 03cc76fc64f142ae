"""What the official SDKs talk about: the same conversations in Python and in Node, with each upstream.

The demo provider follows what the user says; the bench harness's upstream (`sim`) follows the last directive in the
request, so a result given to it says what comes next.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gateway import awaited_port, free_port, running
from tests.reference import SHARED
from toolwire.providers import hosts

SIM = "bench/upstream.py"
#: Model of the bench upstream -> the wire it is reached by, and what follows its address.
SIM_MODELS = {
    "sim/gpt-4o": ("openai_chat", "/v1"),
    "sim-anthropic/claude-sonnet-4-5": ("anthropic_messages", ""),
    "sim-gemini/gemini-2.5-flash": ("gemini", "/v1beta"),
    "sim-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0": ("bedrock_converse", ""),
}
DEMO_MODELS = tuple(f"demo/{name}" for name in hosts.DEMO_MODELS)


def tool(name: str, **properties: Any) -> dict[str, Any]:
    """A function tool, all of whose parameters are required."""
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    function = {"name": name, "description": f"Does {name}.", "parameters": parameters}
    return {"type": "function", "function": function}


#: The names are those that the bench upstream calls, in its order; the demo finds its tool by what the user says.
TOOLS = [tool("get_weather", city={"type": "string"}), tool("search_docs")]


@dataclass(frozen=True)
class Talk:
    """One or more user messages, each answered with calls, their results, and a text.

    `calls` are the demo's, by user message, as name and arguments; the other upstream makes as many of its own.
    """

    name: str
    demo: tuple[str, ...]
    sim: tuple[str, ...]
    calls: tuple[tuple[tuple[str, dict[str, Any]], ...], ...]
    result: str = "18 degrees"

    def prompts(self, model: str) -> list[str]:
        """What the user says to this model."""
        return list(self.sim) if model in SIM_MODELS else [f"[demo slow 0] {text}" for text in self.demo]

    def result_for(self, model: str) -> str:
        """What every tool answers."""
        return f"{self.result} [[sim text n=4]]" if model in SIM_MODELS else self.result


_PARIS, _LONDON = ("get_weather", {"city": "Paris"}), ("get_weather", {"city": "London"})
_ONE, _TWO, _EMPTY = "[[sim tools m=4 t=1]]", "[[sim tools m=4 t=2 il=1]]", "[[sim tools m=0 t=1 e=1]]"

TALKS = (
    Talk("one call", ("Weather in Paris?",), (_ONE,), ((_PARIS,),)),
    Talk("parallel calls", ("Weather in Paris and London?",), (_TWO,), ((_PARIS, _LONDON),)),
    Talk("no arguments", ("[demo call search_docs]",), (_EMPTY,), ((("search_docs", {}),),)),
    Talk("tool error", ("Weather in Paris?",), (_ONE,), ((_PARIS,),), "Error: the weather station is silent"),
    Talk("two turns", ("Weather in Paris?", "And the weather in London?"), (_ONE, _TWO), ((_PARIS,), (_LONDON,))),
)


def check(talk: Talk, model: str, turns: list[dict[str, Any]]) -> None:
    """Judges a conversation as a client saw it: per user message `calls` (id, name, arguments as text) and `text`."""
    assert len(turns) == len(talk.prompts(model))
    ids = [call["id"] for turn in turns for call in turn["calls"]]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    for number, turn in enumerate(turns):
        assert (turn["finish"], turn["last_finish"]) == ("tool_calls", "stop")
        if model in SIM_MODELS:
            _check_sim(talk.sim[number], turn, SIM_MODELS[model][0])
            continue
        assert [(call["name"], call["arguments"]) for call in turn["calls"]] == [
            (name, _compact(arguments)) for name, arguments in talk.calls[number]
        ]
        assert turn["text"].count(talk.result) == len(turn["calls"])


def _check_sim(prompt: str, turn: dict[str, Any], wire: str) -> None:
    count = 2 if prompt == _TWO else 1
    assert [call["name"] for call in turn["calls"]] == ["get_weather", "search_docs"][:count]
    assert turn["text"].count("~") == 8  # four tokens
    for number, call in enumerate(turn["calls"]):
        if prompt == _EMPTY:
            assert call["arguments"] in ("", "{}")
            continue
        assert json.loads(call["arguments"])["call"] == number
        assert call["arguments"].endswith('~"]}')
        if wire == "openai_chat":  # arguments that are a text there: every byte is the upstream's
            assert call["arguments"].startswith(f'{{"call": {number}, "items": ["~0@')


def _compact(arguments: dict[str, Any]) -> str:
    inside = ",".join(f'"{name}":"{value}"' for name, value in arguments.items())
    return f"{{{inside}}}"


@contextmanager
def sim(folder: Path) -> Iterator[str]:
    """Runs the bench harness's upstream and gives a configuration that leads to it."""
    port = free_port()
    command = [sys.executable, "-B", str(SHARED / SIM), "--port", str(port)]
    with running(command, folder / "sim.log"):
        awaited_port(port)
        yield "".join(
            f"""\
[providers.{model.partition("/")[0]}]
wire = "{wire}"
base_url = "http://127.0.0.1:{port}{path}"
credential = "none"
{'profile = "openai"' if wire == "openai_chat" else ""}
"""
            for model, (wire, path) in SIM_MODELS.items()
        )

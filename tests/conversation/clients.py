"""Programs that hold a conversation with tools by a vendor's SDK, each through the door of that SDK.

What was said is kept twice: as the SDK gave it, which is what goes back on the same door, and in plain words (texts,
calls, results), from which a program of another door goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from anthropic import Anthropic
from anthropic import DefaultHttpxClient as AnthropicHttp
from google import genai
from google.genai import types
from openai import DefaultHttpxClient, OpenAI

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def _plain_http() -> DefaultHttpxClient:
    """Without the certificates, which take longer to read than an answer takes to come."""
    return DefaultHttpxClient(verify=False, timeout=20)


@dataclass(frozen=True)
class Step:
    """What one side said. `calls` are (id, arguments), `result` is (id, text)."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    result: tuple[str, str] | None = None
    by_user: bool = False


@dataclass
class DoorClient:
    """`base` is the gateway's address, which ends in /v1. Every second request is streamed, the first if `stream`."""

    base: str
    stream: bool = True
    key: str = "sk-nobody"
    steps: list[Step] = field(default_factory=list)
    history: list[Any] = field(default_factory=list)
    warnings: set[str] = field(default_factory=set)
    door: ClassVar[str]

    def take_over(self, steps: Iterable[Step]) -> None:
        """Goes on with what was said on another door: only what every API can say."""
        self.steps = list(steps)
        self.history = [item for step in self.steps for item in self._plain(step)]

    def go_on(self, model: str, text: str | None = None) -> str:
        """Asks until there is no call left, after what the user says, if that is anything. Returns the last text."""
        if text is not None:
            self._say(Step(text, by_user=True))
        for _ in range(5):
            answer = self._ask(model)
            self.stream = not self.stream
            self.steps.append(answer)
            if not answer.calls:
                return answer.text
            for id, arguments in reversed(answer.calls):  # results in another order than the calls
                self._say(Step(result=(id, f"fine in {json.loads(arguments)['city']}")))
        raise AssertionError("the conversation does not end")

    @property
    def call_ids(self) -> list[str]:
        return [id for step in self.steps for id, _ in step.calls]

    def _say(self, step: Step) -> None:
        self.steps.append(step)
        self.history += self._plain(step)

    def _ask(self, model: str) -> Step:
        """Sends the history, puts the answer behind it as the SDK gave it, and says what it was."""
        raise NotImplementedError

    def _plain(self, step: Step) -> list[Any]:
        raise NotImplementedError

    def _warned(self, headers: Any) -> None:
        self.warnings |= set((headers.get("x-toolwire-warnings") or "").split(",")) - {""}


class ChatClient(DoorClient):
    """openai-python, which drops what OpenAI's API does not document."""

    door = "chat_completions"

    def _ask(self, model: str) -> Step:
        function = {"name": "get_weather", "description": "The weather.", "parameters": PARAMETERS}
        tools: Any = [{"type": "function", "function": function}]
        options: Any = {"model": model, "messages": self.history, "tools": tools, "reasoning_effort": "medium"}
        with OpenAI(api_key=self.key, base_url=self.base, max_retries=0, http_client=_plain_http()) as sdk:
            if self.stream:
                with sdk.chat.completions.stream(**options) as stream:
                    message: Any = stream.get_final_completion().choices[0].message
            else:
                answer = sdk.chat.completions.with_raw_response.create(**options)
                self._warned(answer.headers)
                message = answer.parse().choices[0].message
        calls = tuple((call.id, call.function.arguments) for call in message.tool_calls or ())
        step = Step(message.content or "", calls)
        self.history += self._plain(step)
        return step

    def _plain(self, step: Step) -> list[Any]:
        if step.result is not None:
            return [{"role": "tool", "tool_call_id": step.result[0], "content": step.result[1]}]
        message: dict[str, Any] = {"role": "user" if step.by_user else "assistant", "content": step.text or None}
        if step.calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
                for id, arguments in step.calls
            ]
        return [message]


class MessagesClient(DoorClient):
    """anthropic-python, which brings the blocks of an answer back as they came."""

    door = "messages"

    def _ask(self, model: str) -> Step:
        thinking = {"type": "enabled", "budget_tokens": 1024}
        options: Any = {"model": model, "messages": self._joined(), "max_tokens": 4096, "thinking": thinking}
        options["tools"] = [{"name": "get_weather", "input_schema": PARAMETERS}]
        base = self.base.removesuffix("/v1")
        http = AnthropicHttp(verify=False, timeout=20)
        with Anthropic(api_key=self.key, base_url=base, max_retries=0, http_client=http) as sdk:
            if self.stream:
                with sdk.messages.stream(**options) as stream:
                    message: Any = stream.get_final_message()
            else:
                answer = sdk.messages.with_raw_response.create(**options)
                self._warned(answer.headers)
                message = answer.parse()
        self.history.append({"role": "assistant", "content": message.content})
        uses = [block for block in message.content if block.type == "tool_use"]
        text = "".join(block.text for block in message.content if block.type == "text")
        return Step(text, tuple((block.id, json.dumps(block.input)) for block in uses))

    def _joined(self) -> list[Any]:
        """Results of one turn in one message, as the API wants them."""
        joined: list[Any] = []
        for message in self.history:
            if joined and message["role"] == joined[-1]["role"] == "user":
                joined[-1] = {"role": "user", "content": [*joined[-1]["content"], *message["content"]]}
            else:
                joined.append(message)
        return joined

    def _plain(self, step: Step) -> list[Any]:
        if step.result is not None:
            block = {"type": "tool_result", "tool_use_id": step.result[0], "content": step.result[1]}
            return [{"role": "user", "content": [block]}]
        blocks: list[Any] = [{"type": "text", "text": step.text}] if step.text else []
        blocks += [
            {"type": "tool_use", "id": id, "name": "get_weather", "input": json.loads(arguments)}
            for id, arguments in step.calls
        ]
        return [{"role": "user" if step.by_user else "assistant", "content": blocks}]


class ResponsesClient(DoorClient):
    """openai-python, which brings the items of an answer back as they came, its encrypted reasoning among them."""

    door = "responses"

    def _ask(self, model: str) -> Step:
        tools: Any = [{"type": "function", "name": "get_weather", "parameters": PARAMETERS, "strict": False}]
        options: Any = {"model": model, "input": self.history, "tools": tools, "store": False}
        options |= {"reasoning": {"effort": "medium"}, "include": ["reasoning.encrypted_content"]}
        with OpenAI(api_key=self.key, base_url=self.base, max_retries=0, http_client=_plain_http()) as sdk:
            if self.stream:
                with sdk.responses.stream(**options) as stream:
                    response: Any = stream.get_final_response()
            else:
                answer = sdk.responses.with_raw_response.create(**options)
                self._warned(answer.headers)
                response = answer.parse()
        self.history += [item.model_dump(mode="json", exclude_unset=True) for item in response.output]
        for item in self.history:
            item.pop("parsed_arguments", None)  # the SDK's own, which it does not send either
        calls = [item for item in response.output if item.type == "function_call"]
        return Step(response.output_text, tuple((call.call_id, call.arguments) for call in calls))

    def _plain(self, step: Step) -> list[Any]:
        if step.result is not None:
            return [{"type": "function_call_output", "call_id": step.result[0], "output": step.result[1]}]
        items: list[Any] = (
            [{"role": "user" if step.by_user else "assistant", "content": step.text}] if step.text else []
        )
        return items + [
            {"type": "function_call", "call_id": id, "name": "get_weather", "arguments": arguments}
            for id, arguments in step.calls
        ]


class NativeClient(DoorClient):
    """A client of the native API, which puts each answer's message into its history as it is."""

    door = "native"

    def _ask(self, model: str) -> Step:
        function = {"name": "get_weather", "description": "The weather.", "parameters": PARAMETERS}
        tools = [{"type": "function", "function": function}]
        body = {"model": model, "messages": self.history, "tools": tools, "reasoning_effort": "medium"}
        with _plain_http() as http:
            answer = http.post(f"{self.base}/native/chat", json=body, headers={"authorization": f"Bearer {self.key}"})
        assert answer.status_code == 200, answer.text
        self._warned(answer.headers)
        message = answer.json()["choices"][0]["message"]
        self.history.append(message)
        calls = [(call["id"], json.dumps(call["function"]["arguments"])) for call in message.get("tool_calls", ())]
        return Step(message["content"] or "", tuple(calls))

    def _plain(self, step: Step) -> list[Any]:
        if step.result is not None:
            return [{"role": "tool", "tool_call_id": step.result[0], "content": step.result[1]}]
        message: dict[str, Any] = {"role": "user" if step.by_user else "assistant", "content": step.text or None}
        if step.calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": json.loads(arguments)}}
                for id, arguments in step.calls
            ]
        return [message]


class GeminiClient(DoorClient):
    """google-genai, which keeps a content for each chunk of a stream and brings them back as they came."""

    door = "gemini"

    def _ask(self, model: str) -> Step:
        root = self.base.removesuffix("/v1")
        sdk = genai.Client(api_key=self.key, vertexai=False, http_options=types.HttpOptions(base_url=root))
        function = {"name": "get_weather", "description": "The weather.", "parameters_json_schema": PARAMETERS}
        config: Any = {
            "tools": [{"function_declarations": [function]}],
            "thinking_config": {"include_thoughts": True, "thinking_budget": 8192},
        }
        options: Any = {"model": model, "contents": self._joined(), "config": config}
        if self.stream:
            answers = list(sdk.models.generate_content_stream(**options))
        else:
            answers = [sdk.models.generate_content(**options)]
            self._warned(answers[0].sdk_http_response.headers)
        contents: list[Any] = [answer.candidates[0].content for answer in answers]
        self.history += contents
        parts = [part for content in contents for part in content.parts or ()]
        calls = [part.function_call for part in parts if part.function_call]
        text = "".join(part.text for part in parts if part.text and not part.thought)
        return Step(text, tuple((call.id, json.dumps(call.args)) for call in calls))

    def _joined(self) -> list[Any]:
        """Results of one turn in one content and in the order of the calls, as the API wants them."""
        joined: list[Any] = []
        order = [id for step in self.steps for id, _ in step.calls]
        for content in self.history:
            results = isinstance(content, dict) and "function_response" in content["parts"][0]
            if results and isinstance(joined[-1], dict) and "function_response" in joined[-1]["parts"][0]:
                parts = [*joined[-1]["parts"], *content["parts"]]
                parts.sort(key=lambda part: order.index(part["function_response"]["id"]))
                joined[-1] = {"role": "user", "parts": parts}
            else:
                joined.append(content)
        return joined

    def _plain(self, step: Step) -> list[Any]:
        if step.result is not None:
            id, output = step.result
            answered = {"id": id, "name": "get_weather", "response": {"output": output}}
            return [{"role": "user", "parts": [{"function_response": answered}]}]
        parts: list[Any] = [{"text": step.text}] if step.text else []
        parts += [
            {"function_call": {"id": id, "name": "get_weather", "args": json.loads(arguments)}}
            for id, arguments in step.calls
        ]
        return [{"role": "user" if step.by_user else "model", "parts": parts}]


CLIENTS: dict[str, type[DoorClient]] = {
    kind.door: kind for kind in (ChatClient, GeminiClient, MessagesClient, ResponsesClient, NativeClient)
}

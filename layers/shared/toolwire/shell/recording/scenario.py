"""A recorded exchange as a folder, for a replay:

    event.json              the client's request, as API Gateway's proxy event (also for `sam local invoke -e`)
    context.json            the other inputs of the exchange: settings, clock, ids, items of the store. Without this
                            file: known hosts, a clock that stands still, ids that are counted
    expected.request.json   the body of the request to the provider
    upstream.json           the provider's answer: status, headers, the file with its body, how it ended, and when
    upstream.sse            that body as it came; upstream.body.json if it is no stream
    upstream.2.json, ...    the answers to further requests (`expected.2.request.json`), where one was not enough
    expected.json           the answer to the client: status and headers
    expected.sse            that answer's body; expected.body.json if it is no stream

Nothing in it is a credential.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from toolwire.conversation.kept_answers import KeptAnswer
from toolwire.conversation.restore import NOTHING_FOUND, Found
from toolwire.model import errors
from toolwire.model.errors import GatewayError, UpstreamError, UpstreamTruncated
from toolwire.model.http import Headers
from toolwire.model.settings import Settings, Target, Tenant
from toolwire.model.stored import Item, Key, Value

_LATER = re.compile(r"upstream\.([0-9]+)\.json")
_AFTER_FRAME = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)")

#: How the provider's body ended: properly, in the middle, or unknown, since it was not read to the end.
Ends = Literal["complete", "cut", "unread"]


@dataclass(frozen=True, slots=True)
class Failure:
    """The error that ended the provider's body."""

    type: str
    message: str
    code: str
    status: int

    @classmethod
    def of(cls, error: GatewayError) -> Failure:
        """The stored form of an error."""
        return cls(type(error).__name__, error.message, error.code, error.status)

    def error(self) -> GatewayError:
        """The error of this stored form."""
        kind = getattr(errors, self.type, UpstreamError)
        assert issubclass(kind, GatewayError)
        return kind(self.message, code=self.code, status=self.status)


@dataclass(frozen=True, slots=True)
class Recording:
    """A provider's answer. `status` is None if there was none. `timing`: the seconds at which the pieces of the body
    came, with their sizes; None as size stands for a keep-alive to the client."""

    status: int | None
    headers: dict[str, str]
    body: bytes
    ends: Ends
    failure: Failure | None = None
    timing: tuple[tuple[float, int | None], ...] = ()

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        return "text/event-stream" in self.headers.get("content-type", "")

    @property
    def pieces(self) -> list[bytes]:
        """The pieces of the body. They are those that came, if they are known, since late warnings stand behind the
        piece that led to them. Else they are the frames, each with the blank line behind it; a document is one
        piece."""
        sizes = [size for _, size in self.timing if size]
        if sizes and sum(sizes) == len(self.body):
            ends = list(itertools.accumulate(sizes))
            return [self.body[end - size : end] for end, size in zip(ends, sizes, strict=True)]
        if not self.is_stream:
            return [self.body]
        return [frame for frame in _AFTER_FRAME.split(self.body) if frame]

    @property
    def silences(self) -> list[int]:
        """The number of bytes of the body in front of each keep-alive to the client."""
        offsets, at = [], 0
        for _, size in self.timing:
            if size is None:
                offsets.append(at)
            else:
                at += size
        return offsets

    @property
    def error(self) -> GatewayError | None:
        """The error that ended the body; None if it ended properly."""
        if self.ends == "complete":
            return None
        if self.failure is not None:
            return self.failure.error()
        return UpstreamTruncated("the upstream closed the connection before the end of its answer")


@dataclass(frozen=True, slots=True)
class Context:
    """The inputs of an exchange beside the client's request and the providers' answers."""

    settings: Settings
    tenant: Tenant
    #: The model of the request, which may come from its conversation.
    model: str = ""
    #: The times and the ids that it was given, in order.
    times: tuple[float, ...] = ()
    ids: tuple[str, ...] = ()
    answer_headers: Headers = ()
    found: Found = NOTHING_FOUND
    #: The targets that it asked, in order, and the most attempts.
    targets: tuple[Target, ...] = ()
    most_attempts: int = 1
    #: The reason why the turn's items could not be stored.
    store_error: str | None = None
    #: The kept answers from which the request continues, by their ids.
    kept: Mapping[str, KeptAnswer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A recorded exchange. `upstream` is None where no provider was asked."""

    event: dict[str, Any]
    upstream: Recording | None
    later: tuple[Recording, ...] = ()
    context: Context | None = None

    @property
    def answers(self) -> tuple[Recording, ...]:
        """The answers of providers, in order."""
        return (() if self.upstream is None else (self.upstream,)) + self.later


def load_scenario(folder: Path) -> Scenario:
    """Reads a scenario's folder. Raises OSError, ValueError or KeyError where the folder holds none."""
    event = json.loads((folder / "event.json").read_text("utf-8"))
    context = folder / "context.json"
    answers = [_load(folder, path) for path in _upstream_files(folder)]
    if not answers and not context.exists():
        raise FileNotFoundError(f"{folder / 'upstream.json'} is missing")
    known = _context(json.loads(context.read_text("utf-8"))) if context.exists() else None
    return Scenario(event, answers[0] if answers else None, tuple(answers[1:]), known)


def save_scenario(folder: Path, scenario: Scenario) -> None:
    """Writes the folder's files, except `expected.*`. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "event.json", scenario.event)
    if scenario.context is not None:
        _write_json(folder / "context.json", _context_values(scenario.context))
    for number, answer in enumerate(scenario.answers, 1):
        name = "upstream" if number == 1 else f"upstream.{number}"
        body = f"{name}.sse" if answer.is_stream else f"{name}.body.json"
        (folder / body).write_bytes(answer.body)
        values: dict[str, Any] = {"status": answer.status, "headers": answer.headers, "body": body}
        values["ends"] = answer.ends
        if answer.failure is not None:
            values["error"] = asdict(answer.failure)
        if answer.timing:
            values["timing"] = [[round(at, 4), size] for at, size in answer.timing]
        _write_json(folder / f"{name}.json", values)


def _upstream_files(folder: Path) -> list[Path]:
    first = folder / "upstream.json"
    numbered = ((_LATER.fullmatch(path.name), path) for path in folder.iterdir())
    later = ((int(found[1]), path) for found, path in numbered if found is not None)
    return [first, *(path for _, path in sorted(later))] if first.exists() else []


def _load(folder: Path, path: Path) -> Recording:
    values = json.loads(path.read_text("utf-8"))
    return Recording(
        values["status"],
        values["headers"],
        (folder / values["body"]).read_bytes(),
        values["ends"],
        Failure(**values["error"]) if "error" in values else None,
        tuple((at, size) for at, size in values.get("timing", ())),
    )


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")


# ---------------------------------------------------------------- the context


def _context_values(context: Context) -> dict[str, Any]:
    """The context as JSON values, without the settings about keys and tables."""
    settings = replace(context.settings, key_sha256=None, keys_file=None, keys_table=None, rates_table=None)
    settings = replace(settings, recordings_bucket=None)
    found = context.found
    return {
        "model": context.model,
        "times": context.times,
        "ids": context.ids,
        "answer_headers": context.answer_headers,
        "store_error": context.store_error,
        "targets": [msgspec.to_builtins(target) for target in context.targets],
        "most_attempts": context.most_attempts,
        "kept": {id: _answer_values(answer) for id, answer in context.kept.items()},
        "found": {
            "available": found.available,
            "items": [_item_values(item) for item in (*found.mappings.values(), *found.states.values())],
        },
        "tenant": msgspec.to_builtins(context.tenant),
        "settings": msgspec.to_builtins(settings),
    }


def _context(values: dict[str, Any]) -> Context:
    found = values["found"]
    return Context(
        settings=msgspec.convert(values["settings"], Settings),
        tenant=msgspec.convert(values["tenant"], Tenant),
        model=values["model"],
        times=tuple(values["times"]),
        ids=tuple(values["ids"]),
        answer_headers=tuple((name, value) for name, value in values["answer_headers"]),
        found=Found.of(map(_item, found["items"]), available=found["available"]),
        targets=tuple(msgspec.convert(target, Target) for target in values["targets"]),
        most_attempts=values["most_attempts"],
        store_error=values["store_error"],
        kept={id: _kept_answer(answer) for id, answer in values.get("kept", {}).items()},
    )


def _answer_values(answer: KeptAnswer) -> dict[str, Any]:
    """The kept answers with their bytes as texts, since they are sent to a provider byte for byte."""
    texts = [item.decode() for item in answer.input]
    return {"input": texts, "earlier": answer.earlier, "response": answer.response.decode()}


def _kept_answer(values: dict[str, Any]) -> KeptAnswer:
    texts = tuple(item.encode() for item in values["input"])
    return KeptAnswer(texts, tuple(values["earlier"]), values["response"].encode())


def _item_values(item: Item) -> dict[str, Any]:
    values = {name: _encoded(value) for name, value in item.values.items()}
    key = item.key
    return {"partition": key.partition, "sort": key.sort, "values": values, "expires_at": item.expires_at}


def _item(values: dict[str, Any]) -> Item:
    key = Key(values["partition"], values["sort"])
    return Item(key, {name: _decoded(value) for name, value in values["values"].items()}, values["expires_at"])


def _encoded(value: Value) -> object:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _decoded(value: Any) -> Value:
    decoded: Value = base64.b64decode(value["base64"]) if isinstance(value, dict) else value
    return decoded

"""The gemini door: POST /models/{model}:generateContent, :streamGenerateContent and :countTokens.

The path has the model and the method, the query the form of a stream. Every rejected request names the JSON path of the
field, what was there, and the fix. Unknown fields, tools and parts are accepted; they reach a provider of the same
dialect only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import unquote

from toolwire.doors import AnswerContext, Door, KeyPlaces, StreamEncoder
from toolwire.doors.gemini.document import render_response
from toolwire.doors.gemini.errors import render_error
from toolwire.doors.gemini.history import read_history
from toolwire.doors.gemini.json_forms import documented, json_schema, own_object
from toolwire.doors.gemini.models import model_entry
from toolwire.doors.gemini.stream import GeminiEncoder
from toolwire.doors.gemini.tools import VALIDATED, is_validated, read_tool_choice, read_tools
from toolwire.doors.typed_json import decode, in_range, member, one_of, too_deep, top_members
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.events import Batch
from toolwire.model.http import HttpRequest
from toolwire.model.request import ChatRequest, RequestFields, ResponseFormat, Sampling
from toolwire.model.response import ChatResponse
from toolwire.model.source import replace
from toolwire.wire.gemini import DIALECT
from toolwire.wire.json import dump, members, write_object
from toolwire.wire.member_names import MEMBER_NAMES

_NAMES = MEMBER_NAMES[DIALECT]

_ANSWER, _STREAM, _COUNT = "generateContent", "streamGenerateContent", "countTokens"

#: The parameter of the path with the model and the method.
_PARAMETER = "id"

#: A model in the paths of Vertex AI: the project and the place before it are the client's own.
_PUBLISHED = re.compile(r"(?:^|/)publishers/(?P<publisher>[^/]+)/models/(?P<model>.+)")

_LEVELS = ("THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")

#: The name of a cache with system text, contents and tools.
_CACHED = "cachedContent"

_JSON = "application/json"

_NUMBER = re.compile(rb'"-?\d+(\.\d+)?"')

#: Tokens of a thinking budget -> the effort that comes nearest.
_BUDGETS = ((0, "none"), (2_048, "low"), (12_288, "medium"))


class GeminiDoor(Door):
    """See `doors.Door`."""

    name = "gemini"
    dialect = DIALECT
    call_id = r"[A-Za-z0-9_-]{1,64}"
    response_prefix = "gen_"
    ids_optional = True
    has_comments = False
    key_places = KeyPlaces(headers=("x-goog-api-key", "authorization", "x-api-key"), query=("key",))

    def parse_request(self, request: HttpRequest) -> ChatRequest:
        return parse_request(request)

    def count_renderer(self, request: HttpRequest) -> Callable[[int], bytes] | None:
        return _count if asked_of(request)[1] == _COUNT else None

    def sample_request(self, tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
        named = [("toolConfig" if name == "tool_choice" else name, raw) for name, raw in tools]
        body = write_object([("contents", b'[{"role":"user","parts":[{"text":"?"}]}]'), *named])
        return HttpRequest("POST", f"/v1beta/models/{{{_PARAMETER}+}}", {}, body, {_PARAMETER: f"any:{_ANSWER}"})

    def models_document(self, names: Iterable[str]) -> bytes | None:
        return dump({"models": [model_entry(name) for name in names]})

    def model_document(self, name: str) -> bytes | None:
        return dump(model_entry(name))

    def stream_type(self, request: ChatRequest) -> str | None:
        return "application/json" if request.stream_array else None

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder:
        return GeminiEncoder(context, in_array=request.stream_array)

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
        return render_response(response, batch, context)

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        return render_error(error, request_id)


DOOR = GeminiDoor()


def asked_of(http: HttpRequest) -> tuple[str, str]:
    """The model and the method in the path. A model's name may hold slashes and colons. In Vertex AI's paths the
    publisher stands in front of it; `google` is removed, since clients add it by themselves."""
    named = unquote(http.parameters.get(_PARAMETER, ""))
    model, _, method = named.rpartition(":")
    found = _PUBLISHED.search(http.path.replace(f"{{{_PARAMETER}+}}", model) if _PARAMETER in http.path else model)
    if found is not None:
        model = found["model"] if found["publisher"] == "google" else f"{found['publisher']}/{found['model']}"
    return model.removeprefix("models/"), method


def _alt(http: HttpRequest) -> str | None:
    """The form of a stream, by either name of the parameter."""
    return http.query.get("alt", http.query.get("$alt"))


def parse_request(http: HttpRequest) -> ChatRequest:
    """The neutral request, with the client's own bytes on every node. Raises RequestError."""
    model, method = asked_of(http)
    if method not in (_ANSWER, _STREAM, _COUNT) or not model:
        end = f":{method}" if model else method
        raise RequestError(
            f"The path must end with a model and :{_ANSWER}, :{_STREAM} or :{_COUNT}, not with {end[-50:]!r}.",
            status=404,
            code="not_found",
        )
    try:
        top = _own_names(top_members(http.body))
        if method == _COUNT and top.get("generateContentRequest", b"")[:1] == b"{":
            top = _own_names(members(top["generateContentRequest"]))
        return _request(top, model, is_stream=method == _STREAM, in_array=_alt(http) != "sse")
    except RecursionError:
        raise too_deep() from None


def _own_names(top: dict[str, bytes]) -> dict[str, bytes]:
    """The members under their documented names, also those of settings, without the model, which is in the path."""
    own = documented(top, _NAMES.read | _NAMES.documented)
    own.pop("model", None)
    return own | {name: own_object(own[name], name) for name in _NAMES.within if name in own}


def _count(tokens: int) -> bytes:
    return dump({"totalTokens": tokens})


def _request(top: dict[str, bytes], model: str, *, is_stream: bool, in_array: bool) -> ChatRequest:
    config = _config(top, "generationConfig")
    _check_candidates(config)
    effort, thoughts = _thinking(config)
    parsed = ChatRequest(
        model=model,
        messages=read_history(top),
        tools=read_tools(top),
        tool_choice=read_tool_choice(top),
        stream=is_stream,
        stream_array=is_stream and in_array,
        include_usage=True,
        max_tokens=_most_tokens(config),
        sampling=_sampling(config),
        response_format=_response_format(config),
        reasoning_effort=effort,
        reasoning_summary="auto" if thoughts else None,
        dialect_fields=(*((VALIDATED,) if is_validated(top) else ()), *_own_form(config), *_kept(top)),
    )
    fields = RequestFields(DIALECT, tuple(top.items()), parsed, history="contents", stop="generationConfig")
    return replace(parsed, fields=fields)


# ---------------------------------------------------------------- generationConfig


def _config(found: dict[str, bytes], path: str) -> dict[str, bytes]:
    """The members of an object of settings by their paths; none if it is absent. Numbers as strings, which protobuf's
    JSON allows, are read as numbers. Raises RequestError."""
    raw = found.get(path, b"null")
    if raw == b"null":
        return {}
    if raw[:1] != b"{":
        decode(raw, dict[str, object], path)
    own = {f"{path}.{name}": value for name, value in members(raw).items()}
    return {name: value[1:-1] if _NUMBER.fullmatch(value) else value for name, value in own.items()}


def _whole(config: dict[str, bytes], name: str) -> int | None:
    """A whole number, which clients with floats write as 40.0."""
    value = member(config, name, float)
    if value is None:
        return None
    if value != int(value):
        raise RequestError(f"`{name}` must be a whole number, not {value:g}", param=name, code="invalid_type")
    return int(value)


def _most_tokens(config: dict[str, bytes]) -> int | None:
    name = "generationConfig.maxOutputTokens"
    most = _whole(config, name)
    if most is not None and most < 1:
        raise RequestError(f"`{name}` must be at least 1, not {most}", param=name, code="invalid_value")
    return most


def _check_candidates(config: dict[str, bytes]) -> None:
    name = "generationConfig.candidateCount"
    if (_whole(config, name) or 1) > 1:
        message = f"`{name}` must be 1: send a request for each answer"
        raise RequestError(message, param=name, code="unsupported_parameter")


def _sampling(config: dict[str, bytes]) -> Sampling:
    stop = member(config, "generationConfig.stopSequences", list[str])
    return Sampling(
        temperature=in_range(config, "generationConfig.temperature", 0, 2),
        top_p=in_range(config, "generationConfig.topP", 0, 1),
        top_k=_whole(config, "generationConfig.topK"),
        seed=_whole(config, "generationConfig.seed"),
        frequency_penalty=member(config, "generationConfig.frequencyPenalty", float),
        presence_penalty=member(config, "generationConfig.presencePenalty", float),
        stop=tuple(stop) if stop else None,
    )


def _response_format(config: dict[str, bytes]) -> ResponseFormat | None:
    """The format of the answer: JSON, by a schema of either kind."""
    kind = member(config, "generationConfig.responseMimeType", str)
    for name in ("generationConfig.responseJsonSchema", "generationConfig.responseSchema"):
        schema = config.get(name, b"null")
        if schema == b"null":
            continue
        if schema[:1] != b"{":
            decode(schema, dict[str, object], name)
        shape = json_schema(schema) if name.endswith("responseSchema") else schema
        return ResponseFormat("json_schema", "answer", shape, strict=True)
    return ResponseFormat("json_object") if kind == _JSON else None


def _own_form(config: dict[str, bytes]) -> tuple[str, ...]:
    """The name of the member that asks for a format which other APIs do not have: an enum's value without quotes."""
    name = "generationConfig.responseMimeType"
    return (name,) if member(config, name, str) not in (None, "", "text/plain", _JSON) else ()


def _kept(top: dict[str, bytes]) -> tuple[str, ...]:
    """The name of the member that refers to a part of the prompt in Google's storage."""
    return (_CACHED,) if member(top, _CACHED, str) else ()


def _thinking(config: dict[str, bytes]) -> tuple[str | None, bool]:
    """The effort of thinking (None: the model decides), and whether thoughts are asked for."""
    path = "generationConfig.thinkingConfig"
    found = _config(config, path)
    thoughts = bool(member(found, f"{path}.includeThoughts", bool))
    word = member(found, f"{path}.thinkingLevel", str)
    level = one_of(word.upper() if word else None, _LEVELS, f"{path}.thinkingLevel")
    if level is not None and level != _LEVELS[0]:
        return level.lower(), thoughts
    budget = _whole(found, f"{path}.thinkingBudget")
    if budget is None or budget < 0:
        return None, thoughts
    return next((effort for most, effort in _BUDGETS if budget <= most), "high"), thoughts

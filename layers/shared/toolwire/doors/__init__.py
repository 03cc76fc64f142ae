"""The doors: the APIs we serve, a folder each. A door never imports a provider.

How to add a door:

1. `wire/<name>.py`: the typed shapes of the protocol, and `DIALECT`, its name (there is one already where a provider
   speaks it).
2. `doors/<name>/`: `request.py` with a class that extends `Door` and its object `DOOR`; beside it, with these names in
   every folder, `tools.py`, `history.py` (the messages), `stream.py` (the encoder), `document.py` (the JSON answer),
   `errors.py`, and `models.py` if the API lists models in its own way. Its `__init__.py` says what is in it.
3. Its row in `DOORS`: its module, the paths it serves, and the words by which its paths are known.
4. To deploy it, a function of a dozen lines in `functions/` and its paths in `template.yaml`.

Nothing else in the gateway changes: every provider can be asked through it at once. A door is handed the whole HTTP
request, so a model may stand in the path or an option in the query. Where clients put the key, how limits are told, how
tokens are counted and what the least request is are members of `Door` too; those with a default need no line.

Doors are imported when they are needed: a cold start pays for one.

What several doors share:

    typed_json           a request's JSON as the types that a door expects, and what is said of a wrong one
    tool_parameters      a tool's parameters
    tool_choice_forms    a `tool_choice` that names one tool, in the forms of all APIs
    reasoning_efforts    how hard a model is to think, as both of OpenAI's APIs say it
    openai_files         images and files, as both of OpenAI's APIs have them
    openai_errors        errors, likewise
    openai_usage         usage, as Chat Completions and the native API have it
    limit_headers        what answers tell of a tenant's limits
    sample_request       the least request around some tools
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from toolwire.conversation.kept_answers import KeptAnswer
from toolwire.doors.limit_headers import RateLimit, openai_limit_headers
from toolwire.model.call_faults import CallFault
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.events import Batch
from toolwire.model.http import CONVERSATION_HEADER, Headers, HttpRequest
from toolwire.model.request import ChatRequest
from toolwire.model.response import ChatResponse
from toolwire.model.warnings import Warnings


@dataclass(slots=True)
class AnswerContext:
    """What an answer may tell beside its events. `warnings` are codes, `faults` what validation found in its calls;
    more may come until the answer's end."""

    request_id: str
    conversation_id: str
    provider: str
    #: What was asked, for doors whose answers repeat some of it.
    request: ChatRequest
    warnings: Warnings = field(default_factory=Warnings)
    faults: list[CallFault] = field(default_factory=list)
    #: The time, in seconds since 1970.
    now: Callable[[], float] = float
    #: The whole answer as JSON, once it is complete: from a door whose API lets later requests continue from it.
    final: bytes = b""


class StreamEncoder(Protocol):
    """Events to the door's bytes, one instance a response."""

    def encode(self, batch: Batch) -> bytes:
        """What the client is sent for this batch, maybe nothing yet. Raises UpstreamProtocolError for an answer that
        the provider ended well and the door cannot show."""

    def fail(self, error: GatewayError, request_id: str) -> bytes:
        """The door's error event and a proper end, which never looks like a clean stop."""

    def keep_alive(self) -> bytes:
        """What may be sent at this moment to show that the connection lives, changing nothing."""


class KeyPlaces(NamedTuple):
    """Where a request may carry the client's key: names of headers, in lower case, and of members of the query. The
    header `authorization` holds it behind the word "Bearer"."""

    headers: tuple[str, ...] = ("authorization", "x-api-key")
    query: tuple[str, ...] = ()


#: Where clients of most APIs put their key.
KEY_PLACES = KeyPlaces()


#: Request headers in which clients name a conversation where the body does not, the first that is there: ours, then
#: those of known clients, which use any of the APIs.
CONVERSATION_HEADERS = (CONVERSATION_HEADER, "x-claude-code-session-id", "session-id", "x-session-id")


class Compaction(NamedTuple):
    """How an API shows a shorter history. `render`: the body of the answer, given that of the provider's; raises
    UpstreamProtocolError for one that is no such history. `absent`: the error for a provider, given its name, that does
    not make any."""

    render: Callable[[bytes], bytes]
    absent: Callable[[str], RequestError]


class Door(Protocol):
    """One API we serve. A class that extends this inherits the defaults and must define the rest."""

    name: str
    dialect: str
    #: A provider's call id is shown to the client only if it matches this.
    call_id: str
    #: What the ids of answers begin with.
    response_prefix: str
    key_places: KeyPlaces = KEY_PLACES
    conversation_headers: tuple[str, ...] = CONVERSATION_HEADERS
    #: Whether its clients do without ids of calls: in the lane, a call that came without one is shown so.
    ids_optional: bool = False
    #: Whether its streams may hold comments. Clients that cannot skip them are told late warnings by the encoder.
    has_comments: bool = True

    def parse_request(self, request: HttpRequest) -> ChatRequest:
        """Raises RequestError naming the JSON path, what was there, and the fix."""

    def count_renderer(self, request: HttpRequest) -> Callable[[int], bytes] | None:  # noqa: ARG002
        """What writes a number of tokens as this API answers it, if `request` only asks how many tokens it has; None
        for a request that asks for an answer."""
        return None

    def compaction(self, request: HttpRequest) -> Compaction | None:  # noqa: ARG002
        """How a shorter history is shown, if `request` asks for one; None for a request that asks for an answer. See
        `Provider.compaction_request`."""
        return None

    def not_served(self, method: str, path: str, headers: Mapping[str, str]) -> GatewayError | None:  # noqa: ARG002
        """The error for a path or method of this API that the gateway does not serve, where there is more to say than
        that. Names of headers in lower case."""
        return None

    def named_answers(self, request: ChatRequest) -> list[str] | None:  # noqa: ARG002
        """The ids of the kept answers that the request names; None where this API keeps none."""
        return None

    def continued(self, request: ChatRequest, answers: Mapping[str, KeptAnswer]) -> ChatRequest:  # noqa: ARG002
        """The request with the history that it continues from. `answers`: those that were found. Raises
        RequestError."""
        return request

    def sample_request(self, tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
        """The least request with these raw members, which are what the API calls tools and their use."""

    def models_document(self, names: Iterable[str]) -> bytes | None:  # noqa: ARG002
        """The list of these models in this API's own form, None where it has none."""
        return None

    def model_document(self, name: str) -> bytes | None:  # noqa: ARG002
        """One model in this API's own form, None where it has none."""
        return None

    def stream_type(self, request: ChatRequest) -> str | None:  # noqa: ARG002
        """The content type of a stream, where that is not server-sent events."""
        return None

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder:
        """The encoder of one streamed answer."""

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
        """The JSON answer. `batch` is the whole answer's: its source, in the same dialect, is the answer."""

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        """The body of an error answer in the door's dialect."""

    def limit_headers(self, limits: Iterable[RateLimit]) -> Headers:
        """What an answer's headers tell of the tenant's limits."""
        return openai_limit_headers(limits)


class DoorRow(NamedTuple):
    """A door of the registry.

    `module` has its `DOOR`. All its paths take POST, and are written as the template has them: "/models/{model}" gives
    requests a parameter `model`. At `paths` an answer is asked for, at those `beside` them something else. `words` are
    segments that are in this API's paths alone, served or not, and `methods` what stands behind a model's name and a
    colon: they tell whose client asks for a path that is not served. The answer to it then says what the client's
    `base_url` must be. Those `kept`, each with its method, are about an answer that was kept.
    """

    module: str
    paths: tuple[str, ...]
    beside: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    base_url: str = "the base URL ends in /v1"
    kept: tuple[tuple[str, str], ...] = ()
    #: Where GET lists models in this API's own form, and the request header or the parameter of the query by which its
    #: clients are known elsewhere.
    models: tuple[str, ...] = ()
    header: str = ""
    query: str = ""


_OPENAI_BASE_URL = "the base URL of an OpenAI client ends in /v1"

DOORS = {
    "chat": DoorRow(
        "toolwire.doors.chat_completions.request",
        ("/chat/completions",),
        words=(
            "chat", "completions", "embeddings", "images", "audio", "moderations", "assistants", "batches", "files",
        ),
        base_url=_OPENAI_BASE_URL,
    ),
    "gemini": DoorRow(
        "toolwire.doors.gemini.request",
        (
            "/v1beta/models/{id+}",
            "/models/{id+}",
            "/v1alpha/models/{id+}",
            "/v1beta1/{id+}",
            "/projects/{id+}",
            "/publishers/{id+}",
        ),
        words=("v1alpha", "v1beta", "v1beta1", "publishers"),
        methods=("generateContent", "streamGenerateContent", "countTokens"),
        models=("/v1beta/models", "/v1beta/models/{id+}"),
        header="x-goog-api-key",
        query="key",
        base_url="the base URL of a Gemini client has no /v1beta: it ends with the host or, deployed, with /v1; only "
        "where the client adds just /models does it end in /v1beta",
    ),
    "messages": DoorRow(
        "toolwire.doors.messages.request",
        ("/messages",),
        ("/messages/count_tokens",),
        words=("messages",),
        base_url="the base URL of an Anthropic client has no /v1: it ends with the host",
    ),
    "native": DoorRow(
        "toolwire.doors.native.request",
        ("/native/chat",),
        ("/native/tools/check", "/native/translate"),
        words=("native",),
        base_url="the base URL of the native API ends in /v1",
    ),
    "responses": DoorRow(
        "toolwire.doors.responses.request",
        ("/responses",),
        ("/responses/compact", "/responses/input_tokens"),
        words=("responses", "conversations"),
        base_url=_OPENAI_BASE_URL,
        kept=(
            ("GET", "/responses/{id}"),
            ("DELETE", "/responses/{id}"),
            ("GET", "/responses/{id}/input_items"),
            ("POST", "/responses/{id}/cancel"),
        ),
    ),
}  # fmt: skip


def load_door(name: str) -> Door:
    """The door of a key of `DOORS`."""
    door: Any = import_module(DOORS[name].module).DOOR
    return door  # type: ignore[no-any-return]


def door_at(path: str) -> str | None:
    """The name of the door that is asked for an answer at a path, as its row writes it."""
    return next((name for name, row in DOORS.items() if path in row.paths), None)


def door_of(path: str) -> str | None:
    """The name of the door whose client asks for a path, which need not be served; None where the path does not
    tell."""
    methods = {method: name for name, row in DOORS.items() for method in row.methods}
    # A model may be called by any word, so what is behind it tells more than what is before.
    if (name := methods.get(path.rpartition(":")[2])) is not None:
        return name
    words = {word: name for name, row in DOORS.items() for word in row.words}
    return next((words[part] for part in path.split("/") if part in words), None)

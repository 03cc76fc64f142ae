"""The doors: the APIs we serve, a folder each. A door never imports a provider.

How to add a door:

1. `wire/<name>.py`: the typed shapes of the protocol, and `DIALECT`, its name (there is one already where a provider
   speaks it).
2. `doors/<name>/`: `request.py` with a class that extends `Door` and its object `DOOR`; beside it, with these names in
   every folder, `tools.py`, `history.py` (the messages), `stream.py` (the encoder), `document.py` (the JSON answer),
   `errors.py`, and `models.py` if the API lists models in its own way. Its `__init__.py` says what is in it.
3. Its row in `DOORS`: its module, the paths it serves, and the words by which its paths are known.
4. To deploy it, a function of a dozen lines in `functions/` and its paths in `template.yaml`.

Nothing else in the gateway changes: every provider can be reached through it at once. A door gets the whole HTTP
request, so the path may have the model and the query an option. The places of the key, the headers about limits, the
count of tokens and the smallest request are members of `Door` too, most with a default.

Doors are imported when they are needed: a cold start pays for one.

What several doors share:

    typed_json           a request's JSON as the types that a door expects, and the errors for wrong types
    tool_parameters      a tool's parameters
    tool_choice_forms    a `tool_choice` that names one tool, in the forms of all APIs
    reasoning_efforts    the effort of reasoning, in the words of both of OpenAI's APIs
    openai_files         images and files, as both of OpenAI's APIs have them
    openai_errors        errors, likewise
    openai_usage         usage, as Chat Completions and the native API have it
    limit_headers        the headers of answers about a tenant's limits
    sample_request       the smallest request with some tools
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
    """What a door may write beside an answer's events. `warnings` and `faults` (of calls, by validation) grow until the
    answer's end."""

    request_id: str
    conversation_id: str
    provider: str
    #: The request, for doors whose answers repeat some of it.
    request: ChatRequest
    warnings: Warnings = field(default_factory=Warnings)
    faults: list[CallFault] = field(default_factory=list)
    #: The time, in seconds since 1970.
    now: Callable[[], float] = float
    #: The whole answer as JSON, once it is complete. Set by a door whose API lets later requests continue from an
    #: answer.
    final: bytes = b""


class StreamEncoder(Protocol):
    """Writes events as the door's bytes. One instance a response."""

    def encode(self, batch: Batch) -> bytes:
        """The bytes for this batch, maybe none yet. Raises UpstreamProtocolError for a complete answer that the door
        cannot show."""

    def fail(self, error: GatewayError, request_id: str) -> bytes:
        """The door's error event and a proper end, which never looks like a clean stop."""

    def keep_alive(self) -> bytes:
        """Bytes that keep the connection alive at this point of the stream, and do not change the answer."""


class KeyPlaces(NamedTuple):
    """Where a request may carry the client's key: names of headers, in lower case, and of members of the query. The
    header `authorization` holds it behind the word "Bearer"; clients that were made for Azure have `api-key`."""

    headers: tuple[str, ...] = ("authorization", "x-api-key", "api-key")
    query: tuple[str, ...] = ()


#: Where clients of most APIs put their key.
KEY_PLACES = KeyPlaces()


#: Request headers that name a conversation, if the body does not; the first one counts. First ours, then those of known
#: clients, which use any of the APIs.
CONVERSATION_HEADERS = (CONVERSATION_HEADER, "x-claude-code-session-id", "session-id", "x-session-id")


class Compaction(NamedTuple):
    """How an API returns a shorter history. `render` makes the answer's body of the provider's; it raises
    UpstreamProtocolError for a body that is no such history. `absent` makes the error for a provider of this name that
    cannot shorten histories."""

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
    #: Whether its clients can do without ids of calls. In the lane, a call without an id is then shown without one.
    ids_optional: bool = False
    #: Whether it shows parts of any API as that API wrote them (`OpaquePart`).
    shows_opaque: bool = False
    #: Whether its streams may hold comments. If not, the encoder writes late warnings in another way.
    has_comments: bool = True

    def parse_request(self, request: HttpRequest) -> ChatRequest:
        """The neutral request. Raises RequestError naming the JSON path, what was there, and the fix."""

    def count_renderer(self, request: HttpRequest) -> Callable[[int], bytes] | None:  # noqa: ARG002
        """If `request` only asks for its number of tokens: the function that writes that number as this API's answer.
        None for a request that asks for an answer."""
        return None

    def compaction(self, request: HttpRequest) -> Compaction | None:  # noqa: ARG002
        """If `request` asks for a shorter history: how it is returned. None for a request that asks for an answer. See
        `Provider.compaction_request`."""
        return None

    def not_served(self, method: str, path: str, headers: Mapping[str, str]) -> GatewayError | None:  # noqa: ARG002
        """The error for a path or method of this API that the gateway does not serve; None for the general error. Names
        of headers are lower case."""
        return None

    def named_answers(self, request: ChatRequest) -> list[str] | None:  # noqa: ARG002
        """The ids of the kept answers that the request names; None for an API without kept answers."""
        return None

    def continued(self, request: ChatRequest, answers: Mapping[str, KeptAnswer]) -> ChatRequest:  # noqa: ARG002
        """The request with the history of the answers that it continues from. `answers`: those that the store had.
        Raises RequestError."""
        return request

    def sample_request(self, tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
        """The smallest valid request with these raw members: the API's members about tools and their use."""

    def models_document(self, names: Iterable[str]) -> bytes | None:  # noqa: ARG002
        """The list of these models in this API's own form; None if it has none."""
        return None

    def model_document(self, name: str) -> bytes | None:  # noqa: ARG002
        """One model in this API's own form; None if it has none."""
        return None

    def stream_type(self, request: ChatRequest) -> str | None:  # noqa: ARG002
        """The content type of a stream; None for server-sent events."""
        return None

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder:
        """The encoder of one streamed answer."""

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
        """The JSON answer. `batch` is the batch of the whole answer; if its source is of this door's dialect, that is
        the upstream's own answer."""

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        """The body of an error answer in the door's dialect."""

    def limit_headers(self, limits: Iterable[RateLimit]) -> Headers:
        """The headers of an answer about the tenant's limits."""
        return openai_limit_headers(limits)


class DoorRow(NamedTuple):
    """A door of the registry.

    `module` has its `DOOR`. `paths` are those for answers, `beside` those for something else; all take POST. They are
    written as in the template: "/models/{model}" gives requests a parameter `model`. `kept` are the paths about kept
    answers, each with its method. `words` are segments of paths that only this API has, served or not, and `methods`
    stand behind a model's name and a colon. By both, a request for a path that is not served is recognised as this
    API's, and its error names the right `base_url`.
    """

    module: str
    paths: tuple[str, ...]
    beside: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    base_url: str = "the base URL ends in /v1"
    kept: tuple[tuple[str, str], ...] = ()
    #: The paths where GET lists models in this API's own form. At other paths its clients are recognised by this
    #: request header, or this parameter of the query.
    models: tuple[str, ...] = ()
    header: str = ""
    query: str = ""


_OPENAI_BASE_URL = "the base URL of an OpenAI client ends in /v1"

DOORS = {
    "chat_completions": DoorRow(
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
    """The name of the door that answers at a path, which is written as in its row."""
    return next((name for name, row in DOORS.items() if path in row.paths), None)


def door_of(path: str) -> str | None:
    """The name of the door whose client asks for a path, served or not; None if the path does not show it."""
    methods = {method: name for name, row in DOORS.items() for method in row.methods}
    # A model may be called by any word, so what is behind it tells more than what is before.
    if (name := methods.get(path.rpartition(":")[2])) is not None:
        return name
    words = {word: name for name, row in DOORS.items() for word in row.words}
    return next((words[part] for part in path.split("/") if part in words), None)

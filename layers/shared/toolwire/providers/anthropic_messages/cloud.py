"""The frame in which clouds serve Claude by the Messages API: the version and the betas are members of the body, and
the URL has the model and says whether the answer is streamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

import msgspec

from toolwire.model.http import Headers, UpstreamRequest, post_json
from toolwire.model.settings import Target
from toolwire.model.warnings import Warnings
from toolwire.providers.address import url_of
from toolwire.wire.json import dump, write_object

#: Betas that clouds call otherwise than Anthropic, and those that they have not: they refuse a request that names one.
#: Any other is passed on, so that new ones need no row. Source: what the clouds were seen to refuse, in the issues of
#: Claude Code and of gateways.
BETAS: Mapping[str, str | None] = {
    "advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19",
    "advisor-tool-2026-03-01": None,
    "code-execution-2025-08-25": None,
    "fast-mode-2026-02-01": None,
    "files-api-2025-04-14": None,
    "mcp-client-2025-04-04": None,
    "mcp-client-2025-11-20": None,
    "mcp-servers-2025-12-04": None,
    "oauth-2025-04-20": None,
    "prompt-caching-scope-2026-01-05": None,
    "redact-thinking-2026-02-12": None,
    "skills-2025-10-02": None,
    "web-fetch-2025-09-10": None,
}

#: How a base URL ends where Vertex AI has Anthropic's models.
PUBLISHED = "/publishers/anthropic"

#: The API's header with betas, and the member of a cloud's body that replaces it.
BETA_HEADER, _BETA_MEMBER = "anthropic-beta", "anthropic_beta"


def in_body(
    members: Iterable[tuple[str, bytes]], own: Headers, version: str, warnings: Warnings
) -> Iterator[tuple[str, bytes]]:
    """The members of the body as a cloud takes them. It has the model and the kind of answer in the URL and reads no
    headers of the API. `own`: the API's headers, which become members. `version`: the cloud's name for the API's
    version."""
    yield "anthropic_version", dump(version)
    named = [value for name, value in own if name == BETA_HEADER]
    for name, value in members:
        if name == _BETA_MEMBER and (texts := _texts(value)) is not None:  # of a client that speaks to such a cloud
            named += texts
        elif name not in ("model", "stream"):
            yield name, value
    if betas := list(_known_betas(named, warnings)):
        yield _BETA_MEMBER, dump(betas)


def _known_betas(named: Iterable[str], warnings: Warnings) -> Iterator[str]:
    """The betas in the header's values, by the clouds' names, each once, without unknown ones."""
    words = [word for value in named for word in value.replace(" ", "").split(",") if word]
    warnings.add(*(f"beta_left_out:{word}" for word in words if BETAS.get(word, word) is None))
    yield from dict.fromkeys(known for word in words if (known := BETAS.get(word, word)) is not None)


def is_published(target: Target) -> bool:
    """Whether the target is a model in Vertex AI's catalogue, which knows models by their publishers."""
    return target.provider.base_url.endswith(PUBLISHED)


def prediction(
    target: Target,
    members: Iterable[tuple[str, bytes]],
    own: Headers,
    key: Headers,
    warnings: Warnings,
    *,
    stream: bool,
) -> UpstreamRequest:
    """The request to Vertex AI: the model is in the address, the version a member of the body, betas stay a header.
    https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude"""
    told = ((name, value) for name, value in members if name != "model")
    body = write_object([("anthropic_version", b'"vertex-2023-10-16"'), *told])
    betas = ",".join(_known_betas((value for name, value in own if name == BETA_HEADER), warnings))
    url = url_of(target, f"/models/{quote(target.model, safe='@')}:{'streamRawPredict' if stream else 'rawPredict'}")
    return post_json(url, body, stream=stream, headers=(*([(BETA_HEADER, betas)] if betas else ()), *key))


def _texts(value: bytes) -> list[str] | None:
    """The texts in a JSON list of texts; None for anything else, which is left to the cloud to refuse."""
    try:
        return msgspec.json.decode(value, type=list[str])
    except msgspec.DecodeError:
        return None

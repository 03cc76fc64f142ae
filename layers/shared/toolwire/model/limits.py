"""Limits, in one place. Each number says its unit and where it comes from. `policy/` enforces them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one tenant. Sizes are bytes of UTF-8 unless said otherwise."""

    #: Tools in one request.
    tools: int
    #: Characters of a tool's name as the client wrote it; a provider's own limit is met by mapping.
    tool_name_chars: int
    #: Characters of a tool's description.
    description_chars: int
    #: Levels of nesting in a tool's parameters.
    schema_depth: int
    #: Nodes (objects and arrays) in one tool's parameters.
    schema_nodes: int
    #: All tools of a request together.
    tools_bytes: int
    #: Arguments of one tool call of an answer.
    arguments_bytes: int
    #: Tool calls in one answer.
    calls: int


#: The limits of the 2api reference document (section 7.1): its defaults.
PRESET_2API = Limits(
    tools=128,
    tool_name_chars=64,
    description_chars=1024,
    schema_depth=5,
    schema_nodes=10_000,
    tools_bytes=2 << 20,
    arguments_bytes=64 << 10,
    calls=20,
)

#: Sized for real coding agents: Claude Code sends 24 tools of 80 KB, MCP users several hundred.
PRESET_AGENTS = Limits(
    tools=512,
    tool_name_chars=128,
    description_chars=64 << 10,
    schema_depth=32,
    schema_nodes=10_000,
    tools_bytes=2 << 20,
    arguments_bytes=1 << 20,
    calls=128,
)

PRESETS = {"2api": PRESET_2API, "agents": PRESET_AGENTS}

#: What a tenant's own limits may be at most, by the preset they start from. For `2api` these are the document's maxima
#: (section 7.1); for `agents`, what the other limits of the gateway leave room for.
MAXIMA = {
    "2api": Limits(
        tools=128,
        tool_name_chars=64,
        description_chars=4096,
        schema_depth=10,
        schema_nodes=10_000,
        tools_bytes=2 << 20,
        arguments_bytes=256 << 10,
        calls=50,
    ),
    "agents": Limits(
        tools=1024,
        tool_name_chars=256,
        description_chars=256 << 10,
        schema_depth=64,
        schema_nodes=50_000,
        tools_bytes=4 << 20,
        arguments_bytes=4 << 20,
        calls=512,
    ),
}

#: A request's body. Lambda takes 6 MB of event, in which the body is base64; the local server keeps to the same.
BODY_BYTES = 4_500_000

#: One SSE line or frame of an upstream. Providers send whole files as one frame; beyond this it is no answer.
FRAME_BYTES = 16 << 20

#: An upstream's JSON answer or error body.
ANSWER_BYTES = 32 << 20

"""The words for why a turn ended. Compatible hosts write any API's words, in any spelling."""

from __future__ import annotations

import re

from toolwire.model.events import FinishReason
from toolwire.model.warnings import Warnings, named_warning

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(r"[-\s]+")

#: A word, as `meaning` spells it -> why the turn ended. An unknown word means a stop; the word itself stays in
#: `Finish.raw`.
FINISH: dict[str, FinishReason] = {
    "stop": "stop", "end_turn": "stop", "eos": "stop", "eos_token": "stop", "stop_sequence": "stop",
    "completed": "stop", "complete": "stop",
    "tool_calls": "tool_calls", "tool_use": "tool_calls", "function_call": "tool_calls", "tool_call": "tool_calls",
    **dict.fromkeys((
        "length", "max_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens", "max_length",
        "model_length", "model_context_window_exceeded", "context_length_exceeded", "token_limit", "time_limit",
        "error_limit", "limit", "output_limit", "incomplete", "length_exceeded", "max_tokens_exceeded",
    ), "length"),
    **dict.fromkeys((
        "content_filter", "content_filtered", "safety", "refusal", "sensitive", "prohibited_content", "recitation",
        "blocklist", "spii", "guardrail_intervened", "censored", "error_toxic",
    ), "content_filter"),
}  # fmt: skip

#: Words for an answer that failed, which must not look like a stop: vLLM and SGLang (abort), DeepSeek, Z.ai, Gemini,
#: Cohere (user_cancel), watsonx (not_finished).
FAILURES = frozenset({
    "error", "failed", "abort", "aborted", "cancel", "cancelled", "canceled", "user_cancel", "network_error", "timeout",
    "server_error", "internal_error", "internal_server_error", "model_error", "unknown_error", "engine_overloaded",
    "not_finished", "insufficient_system_resource", "malformed_function_call", "unexpected_tool_call",
    "too_many_tool_calls", "malformed_response", "missing_thought_signature",
})  # fmt: skip


def note_unknown(word: str, known: bool, warnings: Warnings) -> None:
    """Warns of a word that is not known: the turn is shown as a stop, which may look complete."""
    if word and not known:
        warnings.add(named_warning("finish_reason_unknown", word))


def meaning(word: str) -> str:
    """The word as the tables spell it, without the prefix of Gemini's endpoint ("function_call_filter:
    MALFORMED_...")."""
    if word in FINISH:
        return word
    spelled = _BETWEEN.sub("_", _CAMEL.sub("_", word.rpartition(": ")[2])).lower()
    return spelled.removeprefix("finish_reason_")

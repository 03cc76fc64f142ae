"""The codes of warnings, with a sentence for each, and the set of those about one request.

A code is snake_case; its subject may follow a colon (`not_supported:seed`). `docs/operations.md` explains each code at
more length.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

#: The header of an answer with the codes of its warnings. At the end of a stream, a comment has the later ones.
HEADER = "x-toolwire-warnings"

#: The most characters of warnings in one header.
HEADER_CHARS = 1024

#: Warning: U+FFFD stands for bytes of the answer that are no UTF-8.
INVALID_TEXT = "invalid_text_replaced"

#: Code -> its sentence; `{}` stands for the code's subject.
MESSAGES = {
    "answer_part_left_out": "The answer has a part of the kind `{}`, which this API cannot show: it was left out.",
    "answer_schema_reduced": "What the provider does not enforce of the answer's schema is in its descriptions now.",
    "beta_left_out": "The host has no beta `{}` and would refuse the request: it was left out.",
    "betas_refused": "The host has not all of the betas that were named: the request was sent once more without any.",
    "answer_not_kept": "The answer and its input are too large to be kept: no request can continue from it.",
    "cache_marks_cut": "The provider takes four marks for the prompt cache: the earlier ones were left out.",
    "contains_tool_calls": "The response contains tool calls. Execute the tools and send their results to continue.",
    "custom_tool_arguments_dropped": "The model gave a custom tool more than its one text; the rest was left out.",
    "custom_tool_as_function": "The provider has no custom tools: one was sent as a function with one string.",
    "document_as_text": "A document of text was sent as text, with its title in front.",
    "empty_answer": "The model ended its turn without a word and without a call.",
    "empty_message": "A turn without content was sent as `(no text)`: the provider refuses an empty one.",
    "fallback_unknown": "A fallback model in the settings of the key leads nowhere: the request goes on without it.",
    "history_arguments_wrapped": "Arguments of a call in the history are no JSON object: they were sent as a string "
    "under `_raw_arguments`.",
    "ignored": "`{}` means nothing to the provider, so it was left out.",
    "id_mapping_missing": "The store does not know an id of ours in the history: it went to the provider as it is.",
    INVALID_TEXT: "The provider sent bytes that are no UTF-8 in the answer's text: U+FFFD stands in their place.",
    "invalid_strict_schema": "The tool `{}` says `strict: true`, and its schema breaks the rules of strict schemas: "
    "the host may refuse it, or ignore the word.",
    "invalid_tool_arguments": "The arguments of a call of the tool `{}` are not what its schema allows.",
    "finish_reason_unknown": "The provider ended the answer with `{}`, which says not whether it is complete: it is "
    "shown as a stop.",
    "half_character_replaced": "Half of a character in the history, which was cut in two, was sent as U+FFFD.",
    "images_in_words": "Words stand for images and files of tools and of earlier turns that the model cannot be sent.",
    "item_reference_left_out": "A reference to an item that the gateway has told was left out: it keeps none.",
    "last_turn_trimmed": "White space at the end of the assistant's last turn, which the model refuses, was left out.",
    "malformed_tool_arguments": "The arguments of a call of the tool `{}` are no JSON object.",
    "members_refused": "The host refuses members of messages that it does not know: they were left out.",
    "max_tokens_lowered": "`max_tokens` was lowered to the most that the host takes.",
    "max_tokens_raised": "`max_tokens` was raised to the provider's least, 16.",
    "model_not_said": "The ARN does not say which model it is, so thinking and what else only some models have is left "
    "out: name its model in the provider's `models`.",
    "not_supported": "The provider has no word for `{}`, so it was left out.",
    "parallel_calls_returned": "The model made several calls although `parallel_tool_calls` is false.",
    "reasoning_added": "The host asks for reasoning with every call of the history: what was missing was sent blank.",
    "reasoning_effort_changed": "The model does not know this reasoning effort; it got the nearest one.",
    "identifier_hashed": "An identifier of more than 64 characters, which the host refuses, was sent as its digest.",
    "reasoning_turned_off": "Reasoning was turned off: the model cannot reason under this request's settings.",
    "request_form_changed": "Some of the request was not in this API's form: it was read as what it means.",
    "response_format_in_words": "The provider has no member for this form of answer here: it was asked for in words.",
    "silent_turn_left_out": "A turn of the assistant's without text or calls was left out.",
    "slow_pattern": "A pattern of the tool `{}` repeats a repetition, as in (a+)+: some engines never end with it.",
    "state_left_out": "The history had state of another provider, model or account, which was left out.",
    "state_missing": "The provider's state for an earlier turn is gone: the request was sent without it.",
    "state_not_stored": "What this turn leaves could not be stored: the next turn does without.",
    "state_refused": "The provider refused the state of earlier turns: the request was sent once more without it.",
    "stop_cut": "Some of `{}` were left out: the provider takes fewer, or refuses them.",
    "store_unavailable": "The store could not be read: ids of earlier turns went as they are, and no state was sent.",
    "strict_turned_off": "A tool, or the answer's schema, was sent without `strict`: the provider's rules refuse it.",
    "strict_with_parallel": "Parallel calls are not held to a strict schema: send `parallel_tool_calls: false`.",
    "system_message_in_user_turn": "System text in the middle of the history was sent in the user's turn.",
    "temperature_clamped": "`temperature` was lowered to the provider's highest, 1.",
    "text_calls_recovered": "The model wrote tool calls as text; they were made calls.",
    "token_count_estimated": "The provider counts no tokens: this is an estimate by the size of the request.",
    "tool_arguments_repaired": "A call's arguments broke the schema of the tool `{}`; they were repaired, as asked.",
    "tool_arguments_restated": "The provider sent arguments of a call more than once; they count once.",
    "tool_arguments_unwrapped": "The provider sent a call's arguments as the text of a JSON string; it was unpacked.",
    "tool_call_cut": "A call of the tool `{}` was cut: its arguments are not complete.",
    "tool_calls_missing": "The provider ended the turn for tool calls and made none: it is a stop.",
    "tool_choice_changed": "The forced tool choice was sent as `auto`: the model cannot be forced, at least while it "
    "reasons.",
    "tool_choice_not_honored": "The model did not keep to `tool_choice`.",
    "tool_description_split": "A tool's description is longer than the host takes: it goes on in the instructions.",
    "tool_name_mended": "A call named its tool with marks of the model's own around the name; they were left out.",
    "tool_not_allowed": "The tool `{}` is not on the tenant's allowlist.",
    "tool_result_missing": "A call in the history had no result: the provider was sent an error result in its place.",
    "tool_result_name_corrected": "A tool's result named another tool than its call: it was sent with the call's.",
    "tool_properties_renamed": "The provider refuses names of parameters at `{}`: it got others, restored in calls.",
    "tool_schema_reduced": "`{}` was left out: the provider has no words for it.",
    "turns_rearranged": "The host refuses the order of the turns: they were sent by turns.",
    "user_turn_added": "The history ends with the assistant: the model was sent a short turn of the user's behind it.",
    "unknown_field": "`{}` is no member of this API that the gateway knows, so it was left out.",
    "turn_paused": "The provider paused the turn: send it back as it is, and it goes on.",
    "unknown_tool_call": "The model called `{}`, which is no tool of the request.",
}


#: Characters of a name that cannot stand in a comma-separated header.
_UNFIT = re.compile(r"[^A-Za-z0-9_.:/-]")


class Warnings:
    """The codes of warnings about one request or answer: each once, in the order in which they were added.

    One object is shared by all that may warn, and grows until the answer's end. It equals any sequence of the same
    codes in the same order.
    """

    __slots__ = ("_codes",)

    def __init__(self, codes: Iterable[str] = ()) -> None:
        self.reset(codes)

    def add(self, *codes: str) -> None:
        """Adds the codes that are new."""
        for code in codes:
            self._codes.setdefault(code)

    def reset(self, codes: Iterable[str]) -> None:
        """Drops all codes, and adds these."""
        self._codes = dict.fromkeys(codes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._codes)

    def __len__(self) -> int:
        return len(self._codes)

    def __contains__(self, code: object) -> bool:
        return code in self._codes

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Warnings | list | tuple) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"Warnings({list(self)!r})"

    def header(self, told: Container[str] = ()) -> str:
        """The codes, without those in `told`, as one header's value, cut to `HEADER_CHARS`."""
        return ",".join(code for code in self if code not in told)[:HEADER_CHARS]

    def explained(self) -> list[dict[str, str]]:
        """Each code with its sentence, for a JSON body."""
        return [{"code": code, "message": explain(code)} for code in self]


def explain(code: str) -> str:
    """The sentence of a code; the code itself in words, if it has no sentence."""
    name, _, about = code.partition(":")
    words = MESSAGES.get(name, name.replace("_", " ") + (": {}" if about else ""))
    return words.format(about) if about else words.replace(" `{}`", "")


def named_warning(code: str, name: str) -> str:
    """The code of a warning about one named thing. Characters of the name that a comma-separated header does not allow
    are replaced."""
    return f"{code}:{_UNFIT.sub('_', name[:128])}"

"""The published cases of what odd hosts answer (`cases-upstream`), and our own tests of each."""

from __future__ import annotations

_CHAT = "tests/providers/openai_chat"
_MESSAGES = "tests/providers/anthropic_messages"
_RESPONSES = "tests/providers/openai_responses"
_TEXT = "tests/stream/text_calls/test_recovery.py"

#: Case number -> our tests of the same fault, on our own inputs.
COVERED: dict[str, tuple[str, ...]] = {
    "202": ("tests/stream/test_accumulator.py::test_awkward",),
    "203": (f"{_CHAT}/test_odd_hosts.py::test_a_finish_behind_every_chunk",),
    "205": (f"{_CHAT}/test_odd_hosts.py::test_nulls_everywhere",),
    "206": (f"{_CHAT}/test_odd_hosts.py::test_filter_chunks_around_a_call",),
    "208": (f"{_CHAT}/test_odd_hosts.py::test_an_error_within_a_stream",),
    "209": (f"{_CHAT}/test_odd_hosts.py::test_a_call_that_the_host_could_not_read",),
    "211": ("tests/providers/gemini/test_answer.py::test_streams",),
    "212": ("tests/conversation/test_conversations.py::test_ten_turns",),
    "214": (f"{_MESSAGES}/test_odd_hosts.py::test_the_end",),
    "215": (f"{_MESSAGES}/test_odd_hosts.py::test_a_call_that_was_cut",),
    "217": (f"{_MESSAGES}/test_odd_hosts.py::test_the_end",),
    "218": (f"{_MESSAGES}/test_odd_hosts.py::test_the_end",),
    "220": (f"{_CHAT}/test_odd_hosts.py::test_arguments_that_come_twice_count_once",),
    "221": (f"{_CHAT}/test_odd_hosts.py::test_arguments_that_come_twice_count_once",),
    "223": (f"{_CHAT}/test_odd_hosts.py::test_a_function_call_where_tools_were_asked",),
    "224": (f"{_CHAT}/test_odd_hosts.py::test_a_call_without_its_function_around_it",),
    "226": (f"{_CHAT}/test_odd_hosts.py::test_reasoning_is_shown_once_under_one_name",),
    "227": (f"{_CHAT}/test_answer.py::test_thinking_parts_of_a_content_list",),
    "229": (f"{_TEXT}::test_recordings",),
    "230": (f"{_TEXT}::test_recordings",),
    "232": (f"{_RESPONSES}/test_answer.py::test_repairs",),
    "233": (f"{_RESPONSES}/test_odd_hosts.py::test_an_item_keeps_its_identity",),
    "235": (f"{_RESPONSES}/test_odd_hosts.py::test_an_item_keeps_its_identity",),
    "236": (f"{_RESPONSES}/test_answer.py::test_repairs",),
    "238": (f"{_CHAT}/test_odd_hosts.py::test_a_last_line_without_its_end",),
    "239": ("tests/exchange/test_odd_hosts.py::test_a_host_that_misses_reasoning_is_sent_it_once",),
}

#: Case number -> what it waits for.
LATER: dict[str, str] = {}

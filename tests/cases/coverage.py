"""The published cases (bug reports turned into inputs) that what is built must pass, and our own tests of each."""

from __future__ import annotations

_HERE = "tests/cases"

#: Case number -> our tests of the same fault, on our own inputs.
COVERED = {
    "005": (f"{_HERE}/test_calls.py::test_second_call_without_identity_is_a_call_of_its_own",),
    "025": (f"{_HERE}/test_requests.py::test_mistral_gets_ids_of_nine_alphanumerics",),
    "080": (
        f"{_HERE}/test_requests.py::test_empty_lists_and_nulls_are_left_out",
        f"{_HERE}/test_calls.py::test_no_client_gets_an_empty_list_of_calls",
    ),
    "094": (f"{_HERE}/test_calls.py::test_keep_alives_never_come_out_as_data",),
    "100": (
        f"{_HERE}/test_disconnect.py::test_client_leaves_in_the_middle",
        f"{_HERE}/test_disconnect.py::test_client_leaves_before_the_first_byte",
    ),
}

#: Case number -> what it needs besides a door and a wire, and is not built yet.
LATER = {
    "001": "the Responses wire, which it is about",
    "103": "text-call recovery",
    "104": "text-call recovery",
    "106": "text-call recovery",
}

#: The upstream that a case names -> the wire it is reached by.
WIRE_OF = {
    "openai": "openai_chat",
    "compatible": "openai_chat",
    "anthropic": "anthropic_messages",
    "google": "gemini",
    "bedrock": "bedrock_converse",
}

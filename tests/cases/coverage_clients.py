"""The published cases of what clients send (`cases-clients`), and our own tests of each."""

from __future__ import annotations

_HERE = "tests/cases"

#: Case number -> our tests of the same fault, on our own inputs.
COVERED: dict[str, tuple[str, ...]] = {
    "301": (f"{_HERE}/test_files.py::test_in_a_result",),
    "302": (f"{_HERE}/test_files.py::test_in_a_message",),
    "305": (f"{_HERE}/test_http.py::test_a_compressed_body_is_served",),
    "326": (f"{_HERE}/test_http.py::test_a_model_is_found_by_its_id",),
    "329": (
        f"{_HERE}/test_http.py::test_codex_is_told_how_to_compact",
        "tests/doors/responses/test_request.py::test_what_only_this_api_knows_is_named",
    ),
    "304": (
        f"{_HERE}/test_files.py::test_in_a_result",
        f"{_HERE}/test_files.py::test_a_client_of_the_same_api_has_its_own_bytes",
    ),
}

#: Case number -> what it waits for.
LATER = {
    "310": "schemas",
    "311": "schemas",
    "313": "schemas",
    "314": "schemas",
    "322": "schemas",
    "323": "schemas",
    "307": "typed tools and histories",
    "308": "typed tools and histories",
    "316": "typed tools and histories",
    "317": "typed tools and histories",
    "319": "typed tools and histories",
    "320": "typed tools and histories",
    "325": "typed tools and histories",
    "328": "typed tools and histories",
    "331": "typed tools and histories",
    "332": "typed tools and histories",
}

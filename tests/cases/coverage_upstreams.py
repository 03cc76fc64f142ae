"""The published cases of what odd hosts answer (`cases-upstream`), and our own tests of each."""

from __future__ import annotations

#: Case number -> our tests of the same fault, on our own inputs.
COVERED: dict[str, tuple[str, ...]] = {}

#: Case number -> what it waits for.
LATER = dict.fromkeys(
    (
        "202", "203", "205", "206", "208", "209", "211", "212", "214", "215", "217", "218", "220",
        "221", "223", "224", "226", "227", "229", "230", "232", "233", "235", "236", "238", "239",
    ),
    "the decoders of odd hosts",
)  # fmt: skip

"""llmprobe against the local gateway: a conformance suite for engines that speak OpenAI's and Anthropic's APIs.

The models behind the gateway are the demo's, a script. So only what the suite says of the protocol is told here, and
each row that fails is explained: `WHY` holds what was looked into.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.gateway import gateway
from tests.scorecards.fetched import Absent, npm_package, script_of

_PACKAGE = "llmprobe@0.6.12"
_MODELS = ("openai", "responses", "compatible", "anthropic", "gemini", "bedrock")
_SECONDS = 600

#: What a row's text holds -> why it fails.
WHY = {
    "stop": "by design: OpenAI's Responses API has no stop sequences; they are left out with a warning, "
    "`not_supported:stop`",
    "logprobs": "by design: a setting that the provider lacks is left out with a warning, `not_supported:logprobs`",
    "streaming + SSE framing": "by design: OpenAI's Responses API ends with `response.completed` and has no `[DONE]`",
    "max_tokens is honored": "the demo's: its limit leaves out the reasoning that it tells; and OpenAI's Responses API "
    "takes no limit below 16, so it is raised, with a warning",
    "effort none": "the demo's: it tells its reasoning whatever effort it is asked for",
    "length finish reason": "OpenAI's own rule: it refuses `max_output_tokens: 1`, as the demo does",
    "JSON mode": "the demo's: it does not follow the words in which an API without JSON mode is asked for JSON",
    "previous_response_id": "the demo's: it does not remember; that the turn was found is tested elsewhere",
    "prefill": "as Claude's newer families: a history that ends with the assistant is refused",
}


#: What the first run said, before what it found was repaired: commit f92d8d7.
_BEFORE = (
    "The first run, before what it found was repaired, had 183 of 191 (openai), 184 of 194 (responses, the same as "
    "now), 186 of 196 (compatible, gemini), 185 of 194 (anthropic) and 183 of 192 (bedrock)."
)


def section(folder: Path) -> str:
    """The section of the page. Raises Absent."""
    package, version = npm_package(_PACKAGE, folder)
    reports = dict(_reports(script_of(package, "llmprobe"), folder))
    told = f"Version {version}. What must be so (MUST), by API and by the demo's model behind it. {_BEFORE}"
    return f"{told}\n\n{table(reports)}"


def _reports(script: Path, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with gateway(folder) as base:
        for model in _MODELS:
            saved = folder / f"{model}.json"
            command = ["node", str(script), base, "-m", f"demo/{model}", "--no-bench", "--no-save", "--no-color"]
            with (folder / f"{model}.log").open("wb") as log:
                subprocess.run([*command, "--save", str(saved)], stdout=log, stderr=log, timeout=_SECONDS, check=False)
            if not saved.exists():
                raise Absent(f"it wrote no report about demo/{model}")
            yield model, json.loads(saved.read_text("utf-8"))


def table(reports: dict[str, dict[str, Any]]) -> str:
    """The tables of these reports, by model."""
    surfaces = [row["surface"] for row in next(iter(reports.values()))["conformance"]["bySurface"]]
    lines = [f"| model | all | {' | '.join(surfaces)} |", f"|---|{'---:|' * (len(surfaces) + 1)}"]
    failing: dict[str, list[str]] = {}
    for model, report in reports.items():
        conformance = report["conformance"]
        scores = {row["surface"]: f"{row['passed']} of {row['total']}" for row in conformance["bySurface"]}
        whole = f"{conformance['passed']} of {conformance['total']}"
        lines.append(f"| demo/{model} | {whole} | {' | '.join(scores.get(name, '–') for name in surfaces)} |")
        for result in conformance["results"]:
            if result["outcome"] == "fail":
                failing.setdefault(result["name"], []).append(model)
    rows = [f"| {name} | {', '.join(models)} | {_why(name)} |" for name, models in sorted(failing.items())]
    return "\n".join([*lines, "", "| what fails | at | why |", "|---|---|---|", *rows, ""])


def _why(name: str) -> str:
    return next((why for text, why in WHY.items() if text in name), "**not looked into yet**")

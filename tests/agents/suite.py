"""Real clients in tool loops through the gateway, with the demo model of every wire: `make agents`.

`make agents` runs all of `clients/`, `AGENT=name` one (or some, with commas), pinned as their files say; `LATEST=1`
runs what the registries have today; SCENARIO and WIRE limit what is held; AT_ONCE programs run together, and PATIENCE
multiplies the time that each may take. It needs node and npm, and the first time a network: everything is installed
outside the repository (AGENTS_DIR, else the user's cache). No key, no account. The result is in `docs/agents.md`.
Ends with 1 if anything failed that no client's file explains.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.agents import page
from tests.agents.client_file import Client, clients
from tests.gateway import gateway
from toolwire.providers.hosts import DEMO_MODELS

#: Seconds that one program may take for each turn, on top of those that its file gives it.
SECONDS_A_TURN = 30
#: Programs that run at the same time: most of their time they wait.
AT_ONCE = int(os.environ.get("AT_ONCE", "3"))
#: How many times as long as its file says a program may take: for a machine that is slow or busy.
PATIENCE = float(os.environ.get("PATIENCE", "1"))
WIRES = tuple(DEMO_MODELS)
#: One conversation's errors are not to hold up those that run beside it.
NO_BREAKER = "[breaker]\nenabled = false\n"
#: The name of the conversation that visits every model.
SWITCH = "switch"


@dataclass(frozen=True)
class Scenario:
    """A conversation. `noted` are the words that `log.txt` has afterwards; the client shows one of `says`."""

    name: str
    turns: tuple[tuple[str, str], ...]
    noted: tuple[str, ...]
    says: tuple[str, ...]
    fails: bool = False


def scenarios(client: Client, wire: str) -> Iterator[Scenario]:
    """What is held with this wire's demo model."""
    model = f"demo/{wire}"

    def note(word: str) -> str:
        return f"[demo slow 0] {client.note.replace('WORD', word)}"

    end = f" >> {client.end}" if client.end else ""
    several = f"{note('one')} >> {note('two')} {note('three')} >> {note('four')}{end}"
    yield Scenario("calls", ((model, several),), ("one", "two", "three", "four"), ("noted four",))
    yield Scenario("error result", ((model, f"{client.broken} >> {note('one')}{end}"),), ("one",), ("noted",))
    if client.picture:
        yield Scenario("picture", ((model, f"{client.picture} >> {note('one')}{end}"),), ("one",), ("noted",))
    for status in (429, 500):
        says = (str(status), "demo directive", "rate limit", "high demand", "server error")
        yield Scenario(str(status), ((model, f"[demo error {status}]"),), (), says, fails=True)
    # Gemini's calls come in one piece: the stream is cut behind it, and what has come whole may be run.
    whole = ("one",) if wire == "gemini" else ()
    yield Scenario("cut", ((model, f"{note('one')} [demo cut]"),), whole, ("",), fails=True)


def switch(client: Client) -> Scenario:
    """A conversation that goes from model to model, and back to the first two."""
    visited = (*WIRES, *WIRES[:2])
    words = tuple(f"word{number}" for number in range(len(visited)))
    end = f" >> {client.end}" if client.end else ""
    prompts = (client.note.replace("WORD", word) + end for word in words)
    turns = tuple((f"demo/{wire}", prompt) for wire, prompt in zip(visited, prompts, strict=True))
    return Scenario(SWITCH, turns, words, ("noted",))


def hold(client: Client, installed: Path, base: str, way: str, scenario: Scenario, place: Path) -> str:
    """Holds one conversation in a new folder and says what is wrong with it; "" for nothing."""
    folder = place / "work"
    folder.mkdir(parents=True)
    status, text = hold_in(client, installed, base, way, scenario.turns, place)
    return _fault(scenario, status, text, folder)


def hold_in(
    client: Client, installed: Path, base: str, way: str, turns: Sequence[tuple[str, str]], place: Path
) -> tuple[int | None, str]:
    """Runs the client in the folder `work` of a place, with `home` beside it. Returns its exit status, None where it
    did not end in time, and what it said."""
    home = place / "home"
    home.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "BASE": base,
        "ROOT": base.removesuffix("/v1"),
        "CLIENT": str(installed),
        "WAY": way,
        "TURNS": json.dumps(turns),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    with (place / "said").open("w+b") as said:
        process = subprocess.Popen(
            client.command(installed), cwd=place / "work", env=environment, stdin=subprocess.DEVNULL, stdout=said,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            status: int | None = process.wait(PATIENCE * (client.seconds + SECONDS_A_TURN * len(turns)))
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _ended(process)
        said.seek(0)
        return status, said.read().decode("utf-8", "replace")


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Ends the session that this process leads, with what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def _fault(scenario: Scenario, status: int | None, text: str, folder: Path) -> str:
    log = folder / "log.txt"
    noted = log.read_text("utf-8").split() if log.exists() else []
    there, wanted = Counter(noted), Counter(scenario.noted)
    if not (there <= wanted if scenario.fails else there == wanted):
        return f"noted {noted}, not {list(scenario.noted)}{_end_of(text)}"
    if others := sorted(path.name for path in folder.iterdir() if path != log):
        return f"made {others}"
    if status is None and not (scenario.fails and any(said in text for said in scenario.says)):
        return f"does not end in time{_end_of(text)}"
    if status and not scenario.fails:
        return f"ends with {status}{_end_of(text)}"
    if not any(said.lower() in text.lower() for said in scenario.says):
        return f"does not say {scenario.says[0]}{_end_of(text)}"
    return ""


def _end_of(text: str) -> str:
    return f": ...{' '.join(text.split())[-600:]}" if text.strip() else ""


def run(client: Client, *, latest: bool, only: set[str], wires: set[str]) -> int:
    """Runs a client in all its ways with these columns' models, or in the scenarios of these names `only`; with all of
    them its row of the page is written. Returns how many failures nobody has explained."""
    installed = client.installed(latest=latest)
    verdicts: dict[str, list[page.Verdict]] = {name: [] for name in page.COLUMNS if name in wires}
    row = page.Row(client.name, client.version(installed), verdicts, time.strftime("%Y-%m-%d"))
    held = [
        (way, wire, scenario)
        for way in client.ways
        for wire in verdicts
        for scenario in ([switch(client)] if wire == SWITCH else scenarios(client, wire))
        if not only or scenario.name in only
    ]
    with (
        tempfile.TemporaryDirectory() as place,
        gateway(Path(place), NO_BREAKER) as base,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):

        def one(number: int, way: str, wire: str, scenario: Scenario) -> int:
            began = time.monotonic()
            fault = hold(client, installed, base, way, scenario, Path(place) / f"t{number}")
            known = page.explained(client, way, scenario.name, wire) if fault else None
            verdicts[wire] += [page.Verdict(way, scenario.name, known)] if fault else []
            shown = f"{fault} [{known.whose}: {known.what}]" if known else fault or "ok"
            took = f"{time.monotonic() - began:5.1f}s"
            print(f"{client.path.stem:18} {way:18} {wire:11} {scenario.name:13} {took} {shown}", flush=True)
            return bool(fault) and known is None

        unexplained = sum(pool.map(lambda pair: one(pair[0], *pair[1]), enumerate(held)))
        if not only:
            page.write(row)
    return unexplained


def main() -> int:
    """Runs the clients that AGENT names, else all. Returns the exit status."""
    there = clients()
    names = [name for name in os.environ.get("AGENT", "").split(",") if name] or list(there)
    if unknown := [name for name in names if name not in there]:
        sys.exit(f"no such client: {', '.join(unknown)}; there are {', '.join(there)}")
    only = {name for name in os.environ.get("SCENARIO", "").split(",") if name}
    latest = bool(os.environ.get("LATEST"))
    wires = {name for name in os.environ.get("WIRE", "").split(",") if name} or set(page.COLUMNS)
    if unknown := sorted(wires - set(page.COLUMNS)):
        sys.exit(f"no such column: {', '.join(unknown)}; there are {', '.join(page.COLUMNS)}")
    failed = sum(run(there[name], latest=latest, only=only, wires=wires) for name in names)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The pages say what the code does: their tables are compared with it, row by row, and their links followed."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path

from tests.named_rows import each_row
from tests.template import cloudformation
from toolwire.exchange.figures import Figures
from toolwire.model.errors import InternalError
from toolwire.model.events import Usage
from toolwire.model.limits import PRESET_2API, PRESET_AGENTS, Limits
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.warnings import MESSAGES, Warnings
from toolwire.providers import upstream_errors
from toolwire.providers.profiles import PROFILES, Profile
from toolwire.shell.telemetry import metrics, observe
from toolwire.shell.telemetry.request_record import RequestRecord

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "layers" / "shared" / "toolwire"
PAGES = sorted(
    page for page in ROOT.rglob("*.md") if not re.search(r"/\.|/node_modules/", f"/{page.relative_to(ROOT)}")
)
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
PROVIDERS = (ROOT / "docs" / "providers.md").read_text()
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text()

_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
_CODE = re.compile(r"`([^`]+)`")
_CODE_WORD = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")


def rows(page: str, title: str) -> list[list[str]]:
    """The cells of every table row of the section with this title, titles and rules of the tables left out."""
    section = re.split(rf"^## {re.escape(title)}$", page, flags=re.MULTILINE)[1].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rules = {number for number, row in enumerate(cells) if set("".join(row)) <= set("-:")}
    return [row for number, row in enumerate(cells) if not {number, number + 1} & rules]


def named(page: str, title: str) -> set[str]:
    """What the first column of the section's tables names."""
    return {name for row in rows(page, title) for name in _CODE.findall(row[0])}


# ---------------------------------------------------------------- links


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@each_row("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in _LINK.findall(page.read_text()):
        path = page.parent / target if target else page
        assert path.exists(), target
        assert not anchor or anchor in _anchors(path), f"{target}#{anchor}"


# ---------------------------------------------------------------- errors


def _codes(tree: ast.AST) -> Iterator[str]:
    """Every error code that a module writes: `code=...`, `code = ...` in a class, and the short forms' third value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            values = [line.value for line in node.body if isinstance(line, ast.Assign) and _is_code(line.targets[0])]
        elif isinstance(node, ast.Call):
            values = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
            short = isinstance(node.func, ast.Name) and node.func.id in ("_refused", "RefusedError")
            values += node.args[2:3] if short else []
        else:
            continue
        yield from (code for value in values for code in _constants(value) if _CODE_WORD.fullmatch(code))


def _constants(value: ast.expr) -> Iterator[str]:
    """The texts that an expression may be; those it is put together of are none."""
    match value:
        case ast.Constant(str(text)):
            yield text
        case ast.IfExp():
            yield from _constants(value.body)
            yield from _constants(value.orelse)
        case ast.BoolOp():
            for part in value.values:
                yield from _constants(part)


def _is_code(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == "code"


#: Every module without one of these has no code; to parse and walk all of them takes a second.
_MAY_HAVE_CODES = re.compile(r"\bcode ?=|\b(_refused|RefusedError)\(")


def test_every_error_code_is_explained() -> None:
    sources = [path for path in PACKAGE.rglob("*.py") if "demo" not in path.parts] + list((ROOT / "local").glob("*.py"))
    texts = [text for path in sources if _MAY_HAVE_CODES.search(text := path.read_text())]
    written = {code for text in texts for code in _codes(ast.parse(text))}
    by_api_gateway = set(re.findall(r'"code":"(\w+)"', (ROOT / "template.yaml").read_text()))

    assert len(written) > 30
    assert (written | by_api_gateway | set(upstream_errors.CODES.values())) - named(OPERATIONS, "Errors") == set()


#: What a function or method is called that takes codes of warnings.
_TAKES_WARNINGS = re.compile(r"(.*\.)?(warn|_warn|named_warning|_?warnings\.add)")


def _warned(tree: ast.AST) -> Iterator[str]:
    """Every warning's code that a module writes, without what follows its colon: handed to what takes warnings, or set
    out in a list beside one."""
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and _TAKES_WARNINGS.fullmatch(ast.unparse(node.func)):
            values = node.args
        elif isinstance(node, ast.List) and any(isinstance(item, ast.Starred) for item in node.elts):
            values = node.elts if "warnings" in ast.unparse(node) else []
        texts = (text for value in values for text in _written_in(value))
        yield from (code for text in texts if _CODE_WORD.fullmatch(code := text.partition(":")[0]))


def _written_in(value: ast.expr) -> Iterator[str]:
    """The texts that an expression, or an item of a list, may be or begin with."""
    if isinstance(value, ast.List | ast.Tuple):
        for item in value.elts:
            yield from _written_in(item)
    elif isinstance(value, ast.Starred):
        yield from _written_in(value.value)
    elif isinstance(value, ast.GeneratorExp):
        yield from _written_in(value.elt)
    elif isinstance(value, ast.JoinedStr):
        yield from _written_in(value.values[0])
    elif isinstance(value, ast.IfExp):
        yield from (*_written_in(value.body), *_written_in(value.orelse))
    else:
        yield from _constants(value)


def test_every_warning_is_explained() -> None:
    sources = [path for path in PACKAGE.rglob("*.py") if "demo" not in path.parts]
    texts = [text for path in sources if "warn" in (text := path.read_text())]
    written = {code for text in texts for code in _warned(ast.parse(text))}

    assert len(written) > 15
    assert written - MESSAGES.keys() == set()  # whose words tests/model/test_warnings.py holds against the page


# ---------------------------------------------------------------- logs and metrics


def full_record() -> RequestRecord:
    """A record in which everything that a line can say is there."""
    record = RequestRecord("id", "chat_completions", clock=lambda: 0.0)
    record.first_byte = 0.0
    record.tenant, record.requested_model, record.tools, record.status = "default", "demo/openai", 1, 200
    record.target = Target(ProviderConfig("demo", "openai_chat", "http://x"), "openai")
    record.failed(InternalError("no"))
    record.store_error, record.store_read_ms, record.store_write_ms = "read_timeout", 1.0, 1.0
    record.figures = Figures(
        stream=True, dialect="openai_chat", tool_names=["f"], calls=1, recovered={"hermes": 1},
        argument_bytes=1, malformed_calls=["f"], call_faults=Counter({"malformed_tool_arguments": 1}), ids_minted=1,
        stored_items=1, repaired_frames=1,
        warnings=Warnings(["unknown_field:temperatur"]), upstream_status=200, model="m", finish="stop",
        usage=Usage(1, 1, reported_total=3),
    )  # fmt: skip
    record.attempts, record.session = 2, "s-1"
    return record


def test_every_log_field_is_explained() -> None:
    assert named(OPERATIONS, "The log") == set(observe._line(full_record()))


def test_every_metric_is_explained() -> None:
    writers = (metrics.write_metrics, metrics._write_quality, metrics.write_configuration_error)
    source = "".join(inspect.getsource(writer) for writer in writers)
    written = {*re.findall(r'"([A-Z]\w+)"', source), *metrics._QUALITY.values()}

    assert named(OPERATIONS, "Metrics") == written
    for name in ("door", "provider", "outcome", "model"):
        assert f'"{name}": ' in source
        assert f"`{name}`" in OPERATIONS


# ---------------------------------------------------------------- what can be set


def test_limits() -> None:
    expected = [
        [name, f"{getattr(PRESET_AGENTS, name):,}", f"{getattr(PRESET_2API, name):,}"] for name in _fields(Limits)
    ]

    assert [[row[0].partition(":")[0].strip("`"), *row[1:]] for row in rows(OPERATIONS, "Limits")] == expected


def _fields(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def test_template_parameters() -> None:
    parameters = cloudformation.load()["Parameters"]
    default = {name: str(parameter.get("Default", "")) for name, parameter in parameters.items()}

    assert {row[0].strip("`"): row[1].strip("`") for row in rows(OPERATIONS, "Deploying")} == default


def test_every_variable_is_explained() -> None:
    read = re.compile(r"""(?:environ|env)(?:\.get\(|\[)"([A-Z_]+)"|switch\(env, "([A-Z_0-9]+)\"""")
    found = {a or b for path in (PACKAGE / "shell").rglob("*.py") for a, b in read.findall(path.read_text())}
    lambdas = {name for name in found if name.startswith(("AWS_", "_"))}

    assert len(found - lambdas) > 5
    assert found - lambdas <= named(CONFIGURATION, "The environment")


# ---------------------------------------------------------------- profiles


def _shown(value: object) -> str:
    """A profile's value as the page writes it."""
    if value is None or value is False or value in ((), "", frozenset()):
        return "none" if value is None else "no" if value is False else "–"
    if value is True:
        return "yes"
    if isinstance(value, tuple) and all(isinstance(item, str) for item in value):
        return ", ".join(f"`{word}`" for word in value)
    if isinstance(value, tuple):
        return ", ".join(f"`{name}` → `{other}`" for name, other in value)
    if isinstance(value, frozenset):
        return ", ".join(f"`{name}`" for name in sorted(value))
    return f"`{value}`"


@each_row("name", [name for name in _fields(Profile) if name != "name"])
def test_every_field_of_a_profile_is_explained(name: str) -> None:
    default = next(field.default for field in fields(Profile) if field.name == name)
    assert default is not MISSING
    others: dict[str, list[str]] = {}
    for profile in PROFILES.values():
        if (value := getattr(profile, name)) != default:
            others.setdefault(_shown(value), []).append(f"`{profile.name}`")
    deviations = "; ".join(f"{', '.join(names)}: {value}" for value, names in others.items())

    row = next((row for row in rows(PROVIDERS, "Profiles") if row[0] == f"`{name}`"), None)
    assert row is not None
    assert row[2:] == [_shown(default), deviations]


def test_every_profile_is_named() -> None:
    assert {name for name in PROFILES if f"`{name}`" not in PROVIDERS} == set()


def test_the_house_is_as_contributing_draws_it() -> None:
    """Every file and folder that the page names is there; `<api>` and `<wire>` stand for each of them."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:<\w+>/)?(?:[a-z_]+\.py)?)`", page))
    absent = []
    for name in sorted(named):
        folder, _, rest = name.partition("<")
        if not rest:
            absent += [] if (PACKAGE / name).exists() or (ROOT / name).exists() else [name]
            continue
        file = rest.partition(">/")[2]
        homes = [home for home in (PACKAGE / folder).iterdir() if (home / "__init__.py").exists()]
        absent += [f"{home.name}/{file}" for home in homes if not (home / file).exists()]
    assert len(named) > 20
    assert absent == []

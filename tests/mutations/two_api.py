"""Mutants of the rows from 2api's specification."""

from __future__ import annotations

from tests.mutations.mutant import Mutant

_PACKAGE = "layers/shared/toolwire"
_ANSWERS = f"{_PACKAGE}/policy/answers.py"
_LIMITS = f"{_PACKAGE}/model/limits.py"
_DEFINITIONS = f"{_PACKAGE}/policy/definitions.py"
_CONTRACT = f"{_PACKAGE}/doors/chat_completions/contract_2api.py"
_RULES = f"{_PACKAGE}/policy/rules.py"
_OPTIONS = f"{_PACKAGE}/policy/request_options.py"
_CHAT_TOOLS = f"{_PACKAGE}/doors/chat_completions/tools.py"
_GEMINI = f"{_PACKAGE}/providers/gemini"

MUTANTS = {
    "2api: the loop and its edges (4, 5)": [
        Mutant(
            "The client executes tools, never the gateway",
            f"{_GEMINI}/messages.py",
            'else "output": text}',
            'else "output": ""}',
        ),
        Mutant(
            "The client's loop",
            f"{_PACKAGE}/providers/anthropic_messages/messages.py",
            "turn.results.append(_result(part, self._extra(part)))",
            "pass",
        ),
        Mutant(
            "Tools without `tool_choice`: auto",
            _CHAT_TOOLS,
            'if raw == b"null":\n        return None',
            'if raw == b"null":\n        return ToolChoice("none")',
        ),
        Mutant(
            "No tools: no tool calling", _CHAT_TOOLS, "enumerate(raw or ())", 'enumerate(raw or (b\'{"type":"x"}\',))'
        ),
        Mutant(
            "Malformed arguments are neither validated nor fixed",
            _ANSWERS,
            'if rules.validate_tool_arguments != "off":\n            self._judge_name(call)',
            "if True:\n            self._judge_name(call)",
        ),
        Mutant(
            "A retry with the malformed call in the history",
            f"{_PACKAGE}/rewrite/history.py",
            'return dump({"_raw_arguments": text}).decode()',
            'return "{}"',
        ),
        Mutant(
            "Schema compatibility is checked before routing",
            f"{_PACKAGE}/schema/dialects.py",
            "features=_keywords(features))",
            "features=())",
        ),
        Mutant(
            "`oneOf` and `anyOf` are refused at Google",
            f"{_GEMINI}/tools.py",
            "plain=True, optional_cycles=True)",
            'plain=True, optional_cycles=True, refused_at_root=frozenset({"anyOf", "oneOf"}))',
        ),
        Mutant(
            "`tool_calls` is always an array",
            f"{_PACKAGE}/doors/chat_completions/document.py",
            "    elif calls:\n",
            "    else:\n",
        ),
        Mutant(
            "Results may come in any order",
            f"{_GEMINI}/messages.py",
            "self._response(call, self._results[call.id])",
            "self._response(call, list(self._results.values())[len(responses)])",
        ),
        Mutant(
            "`required` without a call is an error",
            _ANSWERS,
            "return self._wants_call and not self._calls and not cut",
            "return False",
        ),
        Mutant(
            "`_2api.warning`: the response contains calls",
            _CONTRACT,
            'return write_object([*top.items(), ("_2api", dump({"warning": _WARNING}))])',
            "return write_object(top.items())",
        ),
        Mutant(
            "`tool_calls[].index` on whole calls", _CONTRACT, '[("index", dump(at)), *call.items()]', "call.items()"
        ),
    ],
    "2api: limits (7.1)": [
        Mutant(
            "128 tools, not configurable",
            _LIMITS,
            "PRESET_2API = Limits(\n    tools=128",
            "PRESET_2API = Limits(\n    tools=129",
        ),
        Mutant(
            "Names of 64 characters",
            _DEFINITIONS,
            "if not 1 <= len(tool.name) <= limits.tool_name_chars:",
            "if not tool.name:",
        ),
        Mutant(
            "Descriptions of 1,024 characters",
            _DEFINITIONS,
            'if len(tool.description or "") > limits.description_chars:',
            'if len(tool.description or "") >= limits.description_chars:',
        ),
        Mutant(
            "Schemas 5 levels deep",
            _DEFINITIONS,
            "depth > limits.schema_depth or",
            "depth > limits.schema_depth + 1 or",
        ),
        Mutant("Arguments of 64 KB", _LIMITS, "arguments_bytes=64 << 10,", "arguments_bytes=65 << 10,"),
        Mutant("20 calls a response", _LIMITS, "    calls=20,", "    calls=21,"),
        Mutant("Defaults", _RULES, "limits=tenant.native_limits if native else tenant.limits", "limits=tenant.limits"),
    ],
    "2api: allowlist and validation (7.2, 7.3)": [
        Mutant(
            "`tool_allowlist`, a list of names",
            f"{_PACKAGE}/shell/settings/tenant_policy.py",
            '"tool_allowlist": "allowlist", ',
            "",
        ),
        Mutant("`enforce`: requests", _DEFINITIONS, "        if rules.refuses_others:", "        if False:"),
        Mutant(
            "`warn`: warned of",
            _DEFINITIONS,
            '        warnings.add(named_warning("tool_not_allowed", tool.name))\n',
            "",
        ),
        Mutant("`off`: no restriction", _RULES, ' and tenant.allowlist_mode != "off"', ""),
        Mutant(
            "Calls of the answer",
            _ANSWERS,
            "if rules.allowed is not None and call.name not in rules.allowed:",
            "if False:",
        ),
        Mutant(
            "`request_options.validate_tool_arguments: true`",
            _OPTIONS,
            '"true": "reject"',
            '"true": "annotate"',
        ),
        Mutant(
            "false by default",
            f"{_PACKAGE}/model/settings.py",
            'validate_tool_arguments: Literal["off", "annotate", "reject"] = "off"',
            'validate_tool_arguments: Literal["off", "annotate", "reject"] = "reject"',
        ),
        Mutant(
            "Invalid arguments are an error",
            _ANSWERS,
            """if faults and self._rules.validate_tool_arguments == "reject":""",
            "if False:",
        ),
        Mutant(
            "Malformed JSON never reaches",
            _ANSWERS,
            "            if self._finish is None or not self._finish.is_cut:\n                self._report([fault])\n",
            "",
        ),
    ],
    "2api: rates (7.4)": [
        Mutant(
            "A request with five calls is five units",
            f"{_PACKAGE}/shell/access/rates.py",
            "_counter(settings).add(window, tool_calls, ends_at + _KEPT_SECONDS)",
            "_counter(settings).add(window, 1, ends_at + _KEPT_SECONDS)",
        ),
        Mutant(
            "`tool_calls_per_minute`",
            f"{_PACKAGE}/shell/access/rates.py",
            " or counts.tool_calls >= most.tool_calls:",
            ":",
        ),
    ],
}

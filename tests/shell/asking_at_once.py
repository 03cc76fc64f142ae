"""One of several gateways that share a table of rates: asks as told and prints what it was answered, as JSON.

python -m tests.shell.asking_at_once '{"table": ..., "requests": 50, "limits": {...}, "calls": 0}'
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from toolwire.doors import load_door
from toolwire.model.errors import RequestError
from toolwire.model.settings import Settings, Tenant
from toolwire.shell.access import rates
from toolwire.shell.network import aws_json

#: One minute for all, however long it takes.
NOW = 2_000_000_000.0
THREADS = 8

# A busy machine is no outage: one that is taken for it would let a request pass.
rates._PATIENCE_SECONDS = 60.0
aws_json.SERVICES["dynamodb"] = aws_json.SERVICES["dynamodb"]._replace(connect=30.0, answer=60.0)


def main(asked: dict[str, object]) -> None:
    settings = Settings(providers={}, rates_table=str(asked["table"]))
    limits = asked["limits"]
    calls = asked["calls"]
    assert isinstance(limits, dict)
    assert isinstance(calls, int)
    who = Tenant(name="acme", **limits)

    def ask(_: int) -> int:
        """The status of one request, whose answer makes `calls` tool calls."""
        try:
            headers = rates.admit(who, load_door("chat_completions"), settings, NOW)
        except RequestError as error:
            return error.status
        assert headers, "it was not counted"
        rates.charge(who, calls, settings, NOW)
        return 200

    with ThreadPoolExecutor(THREADS) as pool:
        sys.stdout.write(json.dumps(list(pool.map(ask, range(int(str(asked["requests"])))))))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

"""One of several gateways that share slots: takes one so many times, and prints when it held one, as JSON.

python -m tests.shell.taking_slots '{"table": ..., "times": 5, "most": 4}'
"""

from __future__ import annotations

import json
import sys
import time

from toolwire.shell.access import concurrency
from toolwire.shell.network import aws_json

# A busy machine is no outage: one that is taken for it would let a request pass.
concurrency._PATIENCE_SECONDS = 60.0
aws_json.SERVICES["dynamodb"] = aws_json.SERVICES["dynamodb"]._replace(connect=30.0, answer=60.0)


def main(asked: dict[str, object]) -> None:
    shared = concurrency.TableSlots(str(asked["table"]))
    held: list[tuple[float, float]] = []
    while len(held) < int(str(asked["times"])):
        give_back = shared.take("provider#acme", int(str(asked["most"])), 600.0)
        if give_back is None:
            time.sleep(0.02)
            continue
        began = time.time()
        time.sleep(0.05)
        held.append((began, time.time()))
        give_back()
    sys.stdout.write(json.dumps(held))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

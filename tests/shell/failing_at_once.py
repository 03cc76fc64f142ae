"""One of several gateways whose host fails: asks while its breaker lets it, and prints the moments, as JSON.

python -m tests.shell.failing_at_once '{"table": ..., "until": 1234.5, "open_seconds": 1}'
"""

from __future__ import annotations

import json
import sys
import time

from toolwire.model.settings import BreakerRules, ProviderConfig, Target
from toolwire.shell.network import aws_json, breaker

# A busy machine is no outage: one that is taken for it would let a request pass.
breaker._PATIENCE_SECONDS = 60.0
aws_json.SERVICES["dynamodb"] = aws_json.SERVICES["dynamodb"]._replace(connect=30.0, answer=60.0)


def main(asked: dict[str, object]) -> None:
    rules = BreakerRules(failures=5, seconds=30, open_seconds=float(str(asked["open_seconds"])))
    made = breaker.Breaker(rules, breaker.TableCircuits(str(asked["table"])))
    target = Target(ProviderConfig("acme", "openai_chat", "http://a.example"), "m")
    moments = []
    while time.time() < float(str(asked["until"])):
        if made.claim(target) == 0:
            moments.append(time.time())
            made.ended(target, failed=True, began=moments[-1])
        time.sleep(0.05)
    sys.stdout.write(json.dumps(moments))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

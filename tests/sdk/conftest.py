"""Gateways that the tests of the SDKs share: none of them changes what a gateway keeps for another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway import gateway
from tests.sdk.talks import sim


@pytest.fixture(scope="session")
def demo_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a gateway that has the demo provider, which is asked however often tests had it fail."""
    with gateway(tmp_path_factory.mktemp("demo"), "[breaker]\nenabled = false\n") as base:
        yield base


@pytest.fixture(scope="session")
def sim_config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The bench harness's upstream, running, and the configuration that leads to it."""
    with sim(tmp_path_factory.mktemp("sim")) as config:
        yield config


@pytest.fixture(scope="session")
def sim_gateway(sim_config: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a gateway in front of that upstream."""
    with gateway(tmp_path_factory.mktemp("gateway"), sim_config) as base:
        yield base

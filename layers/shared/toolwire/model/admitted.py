"""Who was let in, as the rest of a request is told of it."""

from __future__ import annotations

from dataclasses import dataclass

from toolwire.model.http import Headers
from toolwire.model.settings import Settings, Tenant


@dataclass(frozen=True, slots=True)
class Admitted:
    """Who asks, and under which configuration. `rate_headers` say what the tenant may still ask for."""

    settings: Settings
    tenant: Tenant
    rate_headers: Headers

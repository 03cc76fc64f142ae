"""A request that was admitted: its tenant and the settings that hold for it."""

from __future__ import annotations

from dataclasses import dataclass

from toolwire.model.http import Headers
from toolwire.model.settings import Settings, Tenant


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request's settings and tenant. `rate_headers` tell the client what is left of the tenant's rates."""

    settings: Settings
    tenant: Tenant
    rate_headers: Headers

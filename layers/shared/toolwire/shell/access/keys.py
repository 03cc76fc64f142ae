"""Finds the tenant of a request: looks its key up by SHA-256, and remembers the result for a minute. The key is not
stored.

Every wrong key (unknown, revoked, expired, replaced, sent in another header) gets the same answer after the same work:
hash, then memory or look-up. The time of a look-up reveals nothing, since nobody can choose a key by the first bytes of
its hash.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from toolwire.doors import KEY_PLACES, KeyPlaces
from toolwire.model.errors import InternalError, RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.settings import Settings, Tenant
from toolwire.shell.access.key_records import FindKey, KeyRecord, KeysUnavailableError, find_in_file, find_in_table
from toolwire.shell.settings.tenants import tenant_from

#: The seconds for which a result is remembered. A revoked key may work for as long.
TTL_SECONDS = 60.0

#: The most keys that are remembered. Valid and refused ones are counted apart, so that a flood of invented keys pushes
#: out no valid one.
MOST_KEPT = 1024


def authenticate(request: HttpRequest, settings: Settings, places: KeyPlaces = KEY_PLACES) -> Tenant:
    """The tenant of a request. `places`: where the request may carry its key.

    If keys are configured, every request needs one. If none are, every request is admitted, unless the settings require
    a key: then none is. Raises RequestError (401, `invalid_api_key`), InternalError (503, `key_check_unavailable`)
    where the table cannot be asked, and SettingsError for a record whose settings mean nothing.
    """
    has_store = settings.keys_table is not None or settings.keys_file is not None
    if settings.key_sha256 is None and not has_store:
        if settings.require_key:
            raise _refused("This gateway asks for a key but none is configured: set KEYS_FILE, or KEY_SHA256.")
        return settings.tenant
    for key in _presented(request, places):
        key_sha256 = _sha256(key)
        if settings.key_sha256 is not None and hmac.compare_digest(key_sha256, settings.key_sha256):
            return settings.tenant
        if has_store:
            record = _process_keys(settings.keys_table, settings.keys_file).find(key_sha256)
            if record is not None:
                return _tenant(record, settings.tenant)
    raise _refused(f"The key is missing or not valid for this gateway: send it as {_shown(places)}.")


#: A key's SHA-256 -> its record (None: there is none), and the time until which that is remembered.
_Memory = OrderedDict[str, tuple[float, KeyRecord | None]]


class Keys:
    """Looks keys up and remembers the results, for one process. Safe to use from several threads."""

    def __init__(
        self,
        find: FindKey,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._find = find
        self._clock = clock
        self._now = now
        self._good: _Memory = OrderedDict()
        self._refused: _Memory = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key_sha256: str) -> KeyRecord | None:
        """The record of a key, if the key is valid now. Raises InternalError (503)."""
        record = self._remembered(key_sha256)
        if record is None or (record.expires_at is not None and record.expires_at <= self._now()):
            return None
        return record

    def _remembered(self, key_sha256: str) -> KeyRecord | None:
        moment = self._clock()
        with self._lock:
            kept = self._good.get(key_sha256) or self._refused.get(key_sha256)
        if kept is not None and moment < kept[0]:
            return kept[1]
        try:
            record = self._find(key_sha256)
        except KeysUnavailableError as error:
            message = f"The key could not be checked: {error}. Try again in a moment."
            raise InternalError(message, code="key_check_unavailable", status=503, retry_after="1") from None
        with self._lock:
            self._good.pop(key_sha256, None)
            self._refused.pop(key_sha256, None)
            memory = self._refused if record is None else self._good
            memory[key_sha256] = moment + TTL_SECONDS, record
            if len(memory) > MOST_KEPT:
                memory.popitem(last=False)
        return record


@functools.cache
def _process_keys(table: str | None, file: str | None) -> Keys:
    """This process's memory of keys."""
    if table is not None:
        return Keys(find_in_table(table))
    assert file is not None
    return Keys(find_in_file(Path(file)))


def _tenant(record: KeyRecord, default: Tenant) -> Tenant:
    """The tenant of a record, whose settings override the default tenant's. Raises SettingsError."""
    tenant = tenant_from(record.settings, f"the key {record.key_id} of {record.tenant}", default)
    return replace(tenant, name=record.tenant)


def _presented(request: HttpRequest, places: KeyPlaces) -> list[str]:
    """The keys of a request: clients send it in one place, a few in two."""
    found = [_in_header(name, request.headers.get(name, "")) for name in places.headers]
    found += [request.query.get(name, "") for name in places.query]
    return [key for key in found if key]


def _in_header(name: str, value: str) -> str:
    if name != "authorization":
        return value.strip()
    scheme, _, token = value.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _shown(places: KeyPlaces) -> str:
    """The places, in words for an error message."""
    shown = ["'Authorization: Bearer KEY'" if name == "authorization" else f"'{name}: KEY'" for name in places.headers]
    return " or ".join([*shown, *(f"'?{name}=KEY'" for name in places.query)])


def _sha256(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _refused(message: str) -> RequestError:
    return RequestError(message, status=401, code="invalid_api_key")

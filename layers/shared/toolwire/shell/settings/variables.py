"""Reads and checks variables of the environment that are settings by themselves.

A wrong value is an error before anything is served: otherwise an unknown switch or level would be found much later.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

from toolwire.model.settings import SettingsError

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_SHA256 = re.compile(r"[0-9a-f]{64}")
#: An origin, as a browser sends it: nothing behind the host and its port.
_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[A-Za-z0-9.:\[\]_-]+")
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")

#: The longest that ids and state can be kept.
MOST_STATE_TTL_DAYS = 365


def check_variables(env: Mapping[str, str]) -> None:
    """Checks the variables whose readers could not report a wrong value. Raises SettingsError."""
    level = env.get("LOG_LEVEL", "").strip().upper()
    if level and level not in logging.getLevelNamesMapping():
        raise SettingsError("LOG_LEVEL: write DEBUG, INFO, WARNING, ERROR or CRITICAL.")
    origin = env.get("CORS_ORIGIN", "").strip()
    if origin and not _ORIGIN.fullmatch(origin):
        raise SettingsError(
            "CORS_ORIGIN: write one origin as browsers send it, such as https://app.example.com, without a path and "
            "without a slash at its end; or *."
        )


def key_sha256(env: Mapping[str, str]) -> str | None:
    """The hash of the one key that the environment has. Raises SettingsError."""
    value = env.get("KEY_SHA256", "").strip().lower()
    if value and not _SHA256.fullmatch(value):
        raise SettingsError("KEY_SHA256: write the SHA-256 of the key, 64 hexadecimal digits (not the key itself).")
    return value or None


def recordings_bucket(env: Mapping[str, str]) -> str | None:
    """The bucket for tenants' exchanges. Raises SettingsError."""
    value = env.get("RECORDINGS_BUCKET", "").strip()
    if value and not _BUCKET.fullmatch(value):
        raise SettingsError("RECORDINGS_BUCKET: write the name of an S3 bucket: 3 to 63 of a-z, 0-9, '.' and '-'.")
    return value or None


def state_ttl_days(env: Mapping[str, str]) -> int:
    """Days for which ids and state are kept. Raises SettingsError."""
    value = env.get("STATE_TTL_DAYS", "").strip() or "30"
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= MOST_STATE_TTL_DAYS:
        raise SettingsError(f"STATE_TTL_DAYS: write a whole number of days from 1 to {MOST_STATE_TTL_DAYS}.")
    return int(value)


def switch(env: Mapping[str, str], name: str, *, default: bool) -> bool:
    """An on/off variable. Raises SettingsError."""
    value = env.get(name)
    if value is None:
        return default
    if value.strip().lower() not in _ON + _OFF:
        raise SettingsError(f"{name}: write 1 or 0.")
    return value.strip().lower() in _ON

"""The keys of clients: makes, lists, replaces and revokes them, on this machine or in a deployed stack.

    python -m local.key_admin create --tenant acme --file keys.json
    python -m local.key_admin create --tenant acme --stack toolwire --settings acme.toml --days 90
    python -m local.key_admin list   --stack toolwire
    python -m local.key_admin rotate --key tw_8dJ2kPq0 --grace 3600 --stack toolwire
    python -m local.key_admin revoke --tenant acme --stack toolwire

A key is shown once, alone on standard output; only its SHA-256 is stored. A settings file has the keys of
`[tenants.default]` (docs/configuration.md), without the section's title. A running gateway uses a change within a
minute. Exit status: 0 done, 1 not done (standard error says why).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import secrets
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local.key_stores import FileStore, KeyStore, TableStore
from local.stack import StackError, stack_output
from toolwire.conversation.tool_call_ids import ALPHABET
from toolwire.model.settings import SettingsError
from toolwire.shell.access.key_records import TENANT_NAME, KeyRecord
from toolwire.shell.settings.tenants import tenant_from

#: Characters of a key's public beginning behind "tw_", and of its secret rest: 238 bits.
_ID_CHARS, _SECRET_CHARS = 8, 40
#: The public beginning, also out of a whole key that somebody pasted.
_KEY_ID = re.compile(rf"(tw_[0-9A-Za-z]{{{_ID_CHARS}}})(_[0-9A-Za-z]*)?")

_DAY = 86_400


class NotDoneError(Exception):
    """The action cannot be done. The message says why and never has a key."""


def create(
    store: KeyStore, now: int, tenant: str, settings: dict[str, Any], seconds: int | None = None
) -> tuple[str, KeyRecord]:
    """Makes a new key and stores its record. Returns both. `seconds`: how long the key is valid; None: until it is
    revoked."""
    if not TENANT_NAME.fullmatch(tenant):
        raise NotDoneError("a tenant's name has 1 to 64 of a-z, 0-9, '.', '_' and '-', the first a letter or digit")
    tenant_from(settings, f"the settings of {tenant}")
    key_id = f"tw_{_random(_ID_CHARS)}"
    key = f"{key_id}_{_random(_SECRET_CHARS)}"
    record = KeyRecord(
        key_sha256=hashlib.sha256(key.encode()).hexdigest(),
        key_id=key_id,
        tenant=tenant,
        created_at=now,
        expires_at=None if seconds is None else now + seconds,
        settings=settings,
    )
    store.put(record)
    return key, record


def rotate(store: KeyStore, now: int, old: KeyRecord, grace: int, seconds: int | None = None) -> tuple[str, KeyRecord]:
    """Replaces `old` by a new key. `old` stays valid for `grace` seconds. The new key is valid for as long as `old` was
    when it was made, or for `seconds`."""
    if seconds is None and old.expires_at is not None:
        seconds = old.expires_at - old.created_at
    made = create(store, now, old.tenant, old.settings, seconds)
    if grace:
        ends = now + grace
        store.put(replace(old, expires_at=ends if old.expires_at is None else min(ends, old.expires_at)))
    else:
        store.delete(old)
    return made


def select(store: KeyStore, tenant: str | None, key: str | None) -> list[KeyRecord]:
    """The records of a tenant, or of one key by its public beginning; all without either. Oldest first."""
    key_id = None
    if key is not None:
        named = _KEY_ID.fullmatch(key)
        if named is None:
            raise NotDoneError("a key is named by its beginning, as `list` shows it: KEY=tw_8dJ2kPq0")
        key_id = named[1]
    found = [r for r in store.all() if tenant in (None, r.tenant) and key_id in (None, r.key_id)]
    return sorted(found, key=lambda record: (record.tenant, record.created_at, record.key_id))


def table_of(records: Sequence[KeyRecord], now: int) -> str:
    """The records for people: one line each, with settings as they were given."""
    rows = [("KEY", "TENANT", "CREATED", "EXPIRES", "SETTINGS")]
    for record in records:
        expires = "never" if record.expires_at is None else _date(record.expires_at)
        if record.expires_at is not None and record.expires_at <= now:
            expires += " (expired)"
        rows.append((record.key_id, record.tenant, _date(record.created_at), expires, json.dumps(record.settings)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main(argv: Sequence[str], now: Callable[[], float] = time.time) -> int:
    """Runs one action. Returns the exit status."""
    arguments = _arguments(argv)
    try:
        _run(arguments, _store(arguments), int(now()))
    except (NotDoneError, SettingsError, StackError) as error:
        print(f"key: {error}", file=sys.stderr)
        return 1
    return 0


def _run(arguments: argparse.Namespace, store: KeyStore, now: int) -> None:
    tenant, key = arguments.tenant, arguments.key
    seconds = None if arguments.days is None else arguments.days * _DAY
    settings = None if arguments.settings is None else _read_settings(arguments.settings)
    if arguments.action == "create":
        if tenant is None:
            raise NotDoneError("name who the key is for: TENANT=acme")
        _show("made", *create(store, now, tenant, settings or {}, seconds), store)
        return
    if arguments.action == "list":
        print(table_of(select(store, tenant, key), now))
        return
    if tenant is None and key is None:
        raise NotDoneError(f"say which to {arguments.action}: KEY=tw_8dJ2kPq0 for one, TENANT=acme for a tenant's")
    found = select(store, tenant, key)
    if not found:
        raise NotDoneError(f"there is no such key in {store.name}")
    if arguments.action == "revoke":
        for record in found:
            store.delete(record)
            _say(f"revoked {record.key_id} of {record.tenant}; it is refused within a minute")
        return
    good = [record for record in found if record.expires_at is None or record.expires_at > now]
    if len(good) != 1:
        names = ", ".join(record.key_id for record in good) or "none"
        raise NotDoneError(f"one good key can be rotated at a time, and here are {len(good)}: {names}. Say KEY=")
    old = good[0] if settings is None else replace(good[0], settings=settings)
    _show(f"in the place of {old.key_id}", *rotate(store, now, old, arguments.grace, seconds), store)


def _show(how: str, key: str, record: KeyRecord, store: KeyStore) -> None:
    """Writes the key to standard output, for the only time, and the rest to standard error."""
    expires = "until it is revoked" if record.expires_at is None else f"until {_date(record.expires_at)}"
    _say(f"{how}: {record.key_id} of tenant {record.tenant}, good {expires}, in {store.name}")
    _say("this is the only time that the key is shown:")
    print(key, flush=True)


def _say(line: str) -> None:
    print(f"key: {line}", file=sys.stderr, flush=True)


def _store(arguments: argparse.Namespace) -> KeyStore:
    if arguments.stack is not None:
        return TableStore(stack_output(arguments.stack, "KeysTable"))
    return FileStore(Path(arguments.file))


def _read_settings(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise NotDoneError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise NotDoneError(f"{path} is not TOML: {error}") from None


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def _date(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.key_admin", description="The keys of clients.")
    parser.add_argument("action", choices=("create", "list", "rotate", "revoke"))
    parser.add_argument("--tenant", help="whose key it is")
    parser.add_argument("--key", help="a key by its public beginning: tw_ and eight characters")
    parser.add_argument("--settings", help="a TOML file with what holds for the tenant (create, rotate)")
    parser.add_argument("--days", type=_positive, help="how long the key is good (default: until it is revoked)")
    parser.add_argument("--grace", type=int, default=0, help="seconds for which a rotated key stays good (default: 0)")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--stack", help="the keys of this CloudFormation stack")
    place.add_argument("--file", help="the keys of this file, which KEYS_FILE names for the gateway")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

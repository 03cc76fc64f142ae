"""The records of keys: in a DynamoDB table when deployed, in a JSON file on one's own machine. The keys themselves are
not stored.

A record has the SHA-256 of a key, its tenant and the tenant's settings. `local/key_admin.py` writes records, the
gateway reads them by hash, which is the table's only key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from toolwire.model.settings import SettingsError

#: A valid name of a tenant. It becomes part of other tables' keys, in which "#" is the separator.
TENANT_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """One key. Times are seconds since 1970; `settings` are the keys of `shell.settings.tenants`."""

    key_sha256: str
    #: The beginning of the key, which is not secret. People recognise keys by it.
    key_id: str
    tenant: str
    created_at: int
    #: The time from which the key is refused; None: it is valid until it is revoked.
    expires_at: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)


class KeysUnavailableError(Exception):
    """The table could not be asked. The text says why and is safe to show."""


#: Finds the record of a key by the SHA-256 of it, or None. Raises KeysUnavailableError, and SettingsError for a broken
#: record.
FindKey = Callable[[str], KeyRecord | None]


def to_item(record: KeyRecord) -> dict[str, dict[str, str]]:
    """The item of a record. Its settings are one JSON text, so that the console can show and change them."""
    item = {
        "key_sha256": {"S": record.key_sha256},
        "key_id": {"S": record.key_id},
        "tenant": {"S": record.tenant},
        "created_at": {"N": str(record.created_at)},
        "settings": {"S": json.dumps(record.settings)},
    }
    if record.expires_at is not None:
        item["expires_at"] = {"N": str(record.expires_at)}
    return item


def from_item(item: Mapping[str, Mapping[str, str]]) -> KeyRecord:
    """The record of an item. Raises SettingsError for one that was not written by `to_item`."""
    fields: dict[str, Any] = {name: next(iter(value.values())) for name, value in item.items()}
    for name in ("created_at", "expires_at"):
        if name in fields:
            fields[name] = int(fields[name])
    return _record({**fields, "settings": fields.get("settings", "{}")})


def read_file(path: Path) -> list[KeyRecord]:
    """Every record of a file; none where there is no file. Raises SettingsError."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["keys"]
        return [_record(entry) for entry in entries]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SettingsError(f"KEYS_FILE: {str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        # The error's own text may quote the file.
        raise SettingsError(f"KEYS_FILE: {str(path)!r} is no file of keys: `make key` writes one.") from None


def file_text(records: list[KeyRecord]) -> str:
    """The text of a file with these records."""
    return json.dumps({"keys": [asdict(record) for record in records]}, indent=2) + "\n"


def find_in_file(path: Path) -> FindKey:
    """Looks keys up in a file, which is read each time."""
    return lambda key_sha256: next((r for r in read_file(path) if r.key_sha256 == key_sha256), None)


def find_in_table(table: str) -> FindKey:
    """Looks keys up in the DynamoDB table: one read a look-up, a second one if the first got no answer. Raises
    KeysUnavailableError if neither did."""

    def find(key_sha256: str) -> KeyRecord | None:
        from toolwire.shell.network import aws  # not before there is a key to look up

        for attempt in (1, 2):
            try:
                # Consistent, so that a key works from the moment it is made: a negative answer is cached.
                key = {"key_sha256": {"S": key_sha256}}
                answer = aws.call("dynamodb", "get_item", TableName=table, Key=key, ConsistentRead=True)
                break
            except aws.AwsError as error:
                if attempt == 2 or error.reason not in ("timeout", "throttled", "unavailable"):
                    raise KeysUnavailableError(str(error)) from None
        return from_item(answer["Item"]) if "Item" in answer else None

    return find


def _record(fields: Mapping[str, Any]) -> KeyRecord:
    try:
        settings = fields["settings"]
        record = KeyRecord(**{**fields, "settings": json.loads(settings) if isinstance(settings, str) else settings})
        if not TENANT_NAME.fullmatch(record.tenant) or not isinstance(record.settings, dict):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        who = fields.get("key_id")
        raise SettingsError(f"The record of the key {who!r} is broken: `make key` writes them.") from None
    return record

"""The store of this process.

    STORE         memory | dynamodb; unset: dynamodb where STORE_TABLE is set, else memory
    STORE_MEMORY_MB   what the store in memory holds at most, 1 to 4096 (16): its oldest items go first
    STORE_TABLE   the table's name; its keys are `conversation_id` and `tool_call_id`, its TTL attribute `expires_at`

`memory` ends with its process. Where DynamoDB is, and with which credentials, is AWS's configuration
(AWS_ENDPOINT_URL_DYNAMODB, AWS_DEFAULT_REGION, AWS_PROFILE, ...).
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping

from toolwire.model.settings import SettingsError
from toolwire.shell.store.store import MEMORY_BYTES, MEMORY_ITEMS, MemoryStore, Store

_TABLE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")


def open_store(env: Mapping[str, str]) -> Store:
    """The store that the environment names. It is not called yet. Raises SettingsError naming the variable."""
    # SAM's local runs have the template's variable and no table.
    table = "" if env.get("AWS_SAM_LOCAL") else env.get("STORE_TABLE", "").strip()
    kind = env.get("STORE", "").strip().lower() or ("dynamodb" if table else "memory")
    if table and not _TABLE_NAME.fullmatch(table):
        raise SettingsError("STORE_TABLE: write the name of a DynamoDB table: 3 to 255 of A-Z, a-z, 0-9, '_.-'.")
    match kind:
        case "memory":
            if table:
                raise SettingsError("STORE_TABLE: names a table that STORE=memory would not use; unset one of them.")
            megabytes = _memory_megabytes(env)
            items = MEMORY_ITEMS * megabytes // (MEMORY_BYTES >> 20)
            return MemoryStore(most_items=items, most_bytes=megabytes << 20)
        case "dynamodb":
            if not table:
                raise SettingsError("STORE_TABLE: is not set; STORE=dynamodb needs the table's name.")
            from toolwire.shell.store.dynamodb import DynamoDbStore  # AWS's side, which few processes need

            return DynamoDbStore(table)
    raise SettingsError(f"STORE: {kind!r} is not known; write memory or dynamodb (the local server has moto, too).")


def _memory_megabytes(env: Mapping[str, str]) -> int:
    text = env.get("STORE_MEMORY_MB", "").strip() or str(MEMORY_BYTES >> 20)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 4096:
        raise SettingsError("STORE_MEMORY_MB: write a whole number of megabytes from 1 to 4096.")
    return int(text)


@functools.cache
def current_store() -> Store:
    """The store of this process. Raises SettingsError; the next request tries again."""
    return _given[-1] if _given else open_store(os.environ)


#: The store that the program in front of the gateway has set.
_given: list[Store] = []


def use_store(store: Store) -> None:
    """Makes this the store of the process, instead of the one in the environment. To be called before the first
    request."""
    _given[:] = [store]
    current_store.cache_clear()

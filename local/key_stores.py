"""The stores of keys' records for `local/key_admin.py`: a file on this machine, or the table of a stack."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Protocol

from local.stack import calling
from toolwire.model.settings import SettingsError
from toolwire.shell.access.key_records import KeyRecord, file_text, from_item, read_file, to_item


class KeyStore(Protocol):
    """Records of keys. Every method raises SettingsError or StackError."""

    #: The place of the store, for messages.
    name: str

    def all(self) -> list[KeyRecord]: ...

    def put(self, record: KeyRecord) -> None:
        """Stores a record, in the place of one with the same hash."""

    def delete(self, record: KeyRecord) -> None: ...


class FileStore:
    """A file that only its owner can read. It is replaced as a whole, so that a reader never sees half of it."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path

    def all(self) -> list[KeyRecord]:
        return read_file(self._path)

    def put(self, record: KeyRecord) -> None:
        self._write([*self._without(record), record])

    def delete(self, record: KeyRecord) -> None:
        self._write(self._without(record))

    def _without(self, record: KeyRecord) -> list[KeyRecord]:
        return [kept for kept in self.all() if kept.key_sha256 != record.key_sha256]

    def _write(self, records: list[KeyRecord]) -> None:
        try:
            self._replace(file_text(records))
        except OSError as error:
            raise SettingsError(f"KEYS_FILE: {self.name!r} cannot be written: {error.strerror}.") from None

    def _replace(self, text: str) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # mkstemp's file is its owner's alone from the beginning.
        descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


class TableStore:
    """The table of a stack, with the caller's own AWS credentials."""

    def __init__(self, table: str) -> None:
        self.name = f"table {table}"
        self._table = table

    def all(self) -> list[KeyRecord]:
        records: list[KeyRecord] = []
        more: dict[str, Any] = {}
        while True:
            page = calling("dynamodb", "scan", TableName=self._table, ConsistentRead=True, **more)
            records += [from_item(item) for item in page["Items"]]
            if "LastEvaluatedKey" not in page:
                return records
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def put(self, record: KeyRecord) -> None:
        calling("dynamodb", "put_item", TableName=self._table, Item=to_item(record))

    def delete(self, record: KeyRecord) -> None:
        key = {"key_sha256": {"S": record.key_sha256}}
        calling("dynamodb", "delete_item", TableName=self._table, Key=key)

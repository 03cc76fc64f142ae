"""Deletes a deployed stack and reports what stays. The keys table stays unless its deletion is asked for: see
`KeysTable` in the template.

    python -m local.destroy --stack toolwire [--delete-keys] -- sam delete --stack-name toolwire

The command behind `--` deletes the stack, after a question. Exit status: that command's, or 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

from local.stack import StackError, calling, find_stack, secret_prefix


def main(argv: Sequence[str]) -> int:
    """Deletes the stack. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m local.destroy", description="Deletes a deployed stack.")
    parser.add_argument("--stack", required=True)
    parser.add_argument("--delete-keys", action="store_true", help="delete the keys table too")
    parser.add_argument("command", nargs="+", help="what deletes the stack")
    arguments = parser.parse_args(argv)
    try:
        prefix = secret_prefix(arguments.stack)
        table = _keys_table(arguments.stack)
        if table and arguments.delete_keys and _is_protected(arguments.stack):
            raise StackError(
                f"the keys table {table} is protected. Leave KEYS=delete out, or first "
                f'make deploy STACK={arguments.stack} PARAMS="ProtectKeysTable=0"'
            )
        status = subprocess.run(arguments.command, check=False).returncode  # noqa: S603 - the Makefile's own command
        if status or find_stack(arguments.stack) is not None:
            print("destroy: the stack is still there, and so are its keys", file=sys.stderr)
            return status or 1
        if table is None:
            print("destroy: the stack was never completely made, so it leaves no keys behind")
        elif arguments.delete_keys:
            calling("dynamodb", "delete_table", TableName=table)
            print(f"destroy: the keys table {table} is deleted too")
        else:
            print(f"destroy: the keys stay in table {table}. A new stack takes them over with")
            print(f'  make deploy PARAMS="KeysTableName={table}"')
        print(f"destroy: the secrets under {prefix} stay, at 0.40 USD a month each")
    except StackError as error:
        print(f"destroy: {error}", file=sys.stderr)
        return 1
    return 0


def _is_protected(stack: str) -> bool:
    """Whether DynamoDB will refuse to delete the keys table. Raises StackError."""
    parameters = (find_stack(stack) or {}).get("Parameters", ())
    return any(it["ParameterKey"] == "ProtectKeysTable" and it["ParameterValue"] == "1" for it in parameters)


def _keys_table(stack: str) -> str | None:
    """The keys table; None for a stack whose first deployment failed. It has no outputs, and its tables went with it.
    Raises StackError."""
    outputs = (find_stack(stack) or {}).get("Outputs", ())
    return next((str(it["OutputValue"]) for it in outputs if it["OutputKey"] == "KeysTable"), None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

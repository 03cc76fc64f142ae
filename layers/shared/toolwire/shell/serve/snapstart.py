"""The hooks for SnapStart, which keeps one start of a function, and begins many environments as copies of it.

Before the snapshot, all that copies must not share, or that does not survive the pause, is dropped: connections,
clients of AWS, credentials. After it, before its first request, each copy gets its own random bytes and reads its
credentials and its configuration. awslambdaric runs the hooks; the runtime registers them if Lambda says that it takes
a snapshot.
"""

from __future__ import annotations

import os
import random
import ssl
from contextlib import suppress

from snapshot_restore_py import register_after_restore, register_before_snapshot  # comes with awslambdaric

from toolwire.model.settings import SettingsError
from toolwire.shell.access import credentials
from toolwire.shell.network import aws, aws_credentials
from toolwire.shell.network.upstream import upstream
from toolwire.shell.settings.current import current_settings


def register_hooks() -> None:
    """Registers the hooks."""
    register_before_snapshot(before_snapshot)
    register_after_restore(after_restore)


def before_snapshot() -> None:
    """Drops what copies must not share, and prepares what each copy would otherwise have to."""
    upstream().close()
    credentials.forget()
    used = aws.forget_clients()
    # A copy has no keys in its environment: botocore's session asks a server of Lambda's for them.
    aws_credentials.prepare()
    for service in used:
        aws.warm(service, wait=1.0)


def after_restore() -> None:
    """Gives the copy its own random bytes, credentials and configuration, before its first request."""
    random.seed()
    ssl.RAND_add(os.urandom(32), 32.0)
    with suppress(Exception):  # a request that needs them reports the failure
        aws_credentials.find_credentials()
    with suppress(SettingsError):  # the same
        current_settings.read_again()

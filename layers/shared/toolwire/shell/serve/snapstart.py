"""SnapStart: one start of a function is kept, and many environments begin as copies of it.

What must not be the same in two copies, or does not outlive the pause, is dropped before the snapshot: connections,
clients of AWS, credentials. After it each copy gets random numbers of its own, reads its credentials and its
configuration, and only then a request. awslambdaric runs these hooks; the runtime registers them where Lambda says
that it takes a snapshot.
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
    """Has the hooks run around the snapshot."""
    register_before_snapshot(before_snapshot)
    register_after_restore(after_restore)


def before_snapshot() -> None:
    """Drops what no copy may have, and makes what each would otherwise have to make."""
    upstream().close()
    credentials.forget()
    used = aws.forget_clients()
    # A copy has no keys in its environment: they are asked of a server of Lambda's, by botocore's session.
    aws_credentials.prepare()
    for service in used:
        aws.warm(service, wait=1.0)


def after_restore() -> None:
    """Makes the copy one of its own, before its first request."""
    random.seed()
    ssl.RAND_add(os.urandom(32), 32.0)
    with suppress(Exception):  # who needs them, and does not get them, says so
        aws_credentials.find_credentials()
    with suppress(SettingsError):  # the same
        current_settings.read_again()

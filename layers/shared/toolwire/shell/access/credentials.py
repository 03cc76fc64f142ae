"""The credentials of providers: fetched when they are first needed, kept for a while, never logged.

A reference names the place of a credential: "env:NAME" (read each time), "secret:NAME" (AWS Secrets Manager),
"ssm:NAME" (Parameter Store, decrypted), or "none". The name of a cloud, alone or in front of one of these, means minted
access tokens (`cloud_tokens`). The client of AWS is imported only when it is needed.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol

from toolwire.model.errors import InternalError, RequestError
from toolwire.model.settings import ProviderConfig
from toolwire.providers.address import MINTED
from toolwire.shell.network.aws_secrets import SecretStoreError, read_parameter, read_secret

if TYPE_CHECKING:
    from toolwire.shell.access.cloud_tokens import Ask, KeptToken, Token

#: The seconds after which a credential is fetched again. A rotated one stays in use for as long.
TTL_SECONDS = 300.0

#: The least seconds between two fetches of a credential that its host refuses, so that a wrong one is not fetched with
#: every request.
RETRY_SECONDS = 10.0

#: A valid key: one line of visible ASCII, as a header needs. A JSON document of keys does not match.
_KEY = re.compile(r"[!-~]+")


class SecretStore(Protocol):
    """Where credentials are kept by name."""

    def __call__(self, name: str) -> str | None:
        """The value, or None if nothing has this name. Raises SecretStoreError."""


class Credentials:
    """Every credential of one process. Safe to use from several threads."""

    def __init__(
        self,
        stores: Mapping[str, SecretStore],
        env: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        ask: Ask | None = None,
    ) -> None:
        self._stores = stores
        self._env = env
        self._clock = clock
        self._kept: dict[str, tuple[float, str]] = {}
        self._now = now
        self._ask = ask
        self._tokens: dict[tuple[str | None, ...], KeptToken] = {}
        self._under_way: dict[str, Future[str | None]] = {}
        self._lock = threading.Lock()

    def credential(self, provider: ProviderConfig) -> str | None:
        """The provider's credential, or None if it takes none.

        Raises RequestError (401, `missing_credential`) naming the variable or secret that is missing, and InternalError
        (503, `credential_unavailable`) if the store, or the cloud that mints tokens, cannot be asked or refuses.
        """
        kind, _, name = provider.credential.partition(":")
        if kind in ("none", "aws"):  # "aws" is signed: see `aws_signing`
            return None
        if kind in MINTED:
            return self._token(provider)
        value, place = self._stored(provider, kind, name)
        if value[0] in "{\"'" or not _KEY.fullmatch(value):
            raise _missing(provider, f"the {place} is no key: it must hold the key alone, on one line, without quotes")
        return value

    def refused(self, provider: ProviderConfig) -> None:
        """Notes that the provider's host refused the credential (401): a minted token may have been revoked, a stored
        key rotated."""
        if provider.credential.partition(":")[0] in MINTED:
            self._kept_token(provider).refused()
            return
        with self._lock:
            kept = self._kept.get(provider.credential)
            if kept is not None and self._clock() >= kept[0] - TTL_SECONDS + RETRY_SECONDS:
                del self._kept[provider.credential]

    def forget(self) -> None:
        """Drops all credentials that were fetched or minted."""
        with self._lock:
            self._kept.clear()
            self._tokens.clear()

    def _stored(self, provider: ProviderConfig, kind: str, name: str) -> tuple[str, str]:
        """The stored value, and the name of its place for messages."""
        if kind == "env":
            value, place = self._env.get(name), f"environment variable {name}"
        else:
            value, place = self._fetch(kind, name), _PLACES[kind] + name
        value = (value or "").strip()
        if not value:
            raise _missing(provider, f"the {place} is not set")
        return value, place

    def _token(self, provider: ProviderConfig) -> str:
        """The current access token of a cloud."""
        from toolwire.shell.access.cloud_tokens import TokenError  # for few configurations

        try:
            return self._kept_token(provider).value()
        except TokenError as error:
            message = f"There is no access token for provider {provider.name!r}: {error}."
            raise InternalError(message, code="credential_unavailable", status=503) from error

    def _kept_token(self, provider: ProviderConfig) -> KeptToken:
        from toolwire.shell.access.cloud_tokens import Ask, KeptToken, mint_of  # for few configurations

        cloud, _, reference = provider.credential.partition(":")
        kind, _, name = reference.partition(":")

        def mint() -> Token:
            document = self._stored(provider, kind, name)[0].encode() if kind else None
            return mint_of(cloud)(document, provider.scope, provider.base_url, self._env, self._ask or Ask())

        key = (provider.credential, provider.scope, provider.base_url)
        with self._lock:
            return self._tokens.setdefault(key, KeptToken(mint, self._now))

    def _fetch(self, kind: str, name: str) -> str | None:
        """A stored value, from memory if it was fetched recently. One thread fetches it; others that want the same wait
        for its result, or its failure."""
        reference = f"{kind}:{name}"
        with self._lock:
            kept = self._kept.get(reference)
            if kept is not None and self._clock() < kept[0]:
                return kept[1]
            fetched = self._under_way.get(reference)
            waits = fetched is not None
            if fetched is None:
                fetched = self._under_way[reference] = Future()
        if waits:
            return fetched.result()
        try:
            fetched.set_result(self._read(kind, name))
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            fetched.set_exception(error)
        with self._lock:
            del self._under_way[reference]
            if fetched.exception() is None and (value := fetched.result()) is not None:
                self._kept[reference] = (self._clock() + TTL_SECONDS, value)
        return fetched.result()

    def _read(self, kind: str, name: str) -> str | None:
        try:
            return self._stores[kind](name)
        except SecretStoreError as error:
            message = f"The {_PLACES[kind]}{name} could not be read: {error}."
            raise InternalError(message, code="credential_unavailable", status=503) from error


_PLACES = {"secret": "Secrets Manager secret ", "ssm": "SSM parameter "}


def _missing(provider: ProviderConfig, problem: str) -> RequestError:
    message = f"The credential of provider {provider.name!r} is missing: {problem}."
    return RequestError(message, status=401, code="missing_credential", retry=False)


_process = Credentials({"secret": read_secret, "ssm": read_parameter})


def refused(provider: ProviderConfig) -> None:
    """See `Credentials.refused`."""
    _process.refused(provider)


def credential(provider: ProviderConfig) -> str | None:
    """The provider's credential in this process: see `Credentials.credential`."""
    return _process.credential(provider)


def forget() -> None:
    """See `Credentials.forget`."""
    _process.forget()

"""The settings of this process. They follow the changes of a document in Systems Manager.

A document at a path is read once, since it was deployed with the code. One at "ssm:" is read again when it is half a
minute old, in a thread of its own that the next request starts. No request waits for it, and an exchange keeps the
settings that it began with. So a change is in use within a minute wherever requests come. A wrong document changes
nothing; the log and a metric say so.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping

from toolwire.model.settings import Settings, SettingsError
from toolwire.shell.settings.configuration import load_settings, read_document
from toolwire.shell.telemetry import observe
from toolwire.shell.telemetry.log import logger

#: Seconds after which the document is read again.
REREAD_SECONDS = 30.0

#: The seconds between two log lines about a document that is wrong or cannot be read.
QUIET_SECONDS = 300.0


class CurrentSettings:
    """The settings of one process. Safe to use from several threads."""

    def __init__(
        self,
        env: Mapping[str, str] = os.environ,
        read: Callable[[str], str] = read_document,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._env = env
        self._read = read
        self._clock = clock
        self._lock = threading.Lock()
        self.forget()

    def __call__(self) -> Settings:
        """The current settings. Raises SettingsError; the next request tries again."""
        settings = self._settings
        if settings is None:
            with self._lock:
                return self._settings or self._load()
        if self._clock() >= self._due:
            self._read_beside()
        return settings

    def forget(self) -> None:
        """Drops the settings, since the environment has changed."""
        self._settings: Settings | None = None
        self._text = ""
        self._due = float("inf")
        self._told: tuple[str, float] | None = None
        #: The failures in a row to read the document again.
        self._unread = 0
        #: The thread that reads the document again, while it runs.
        self.reader: threading.Thread | None = None

    def read_again(self) -> None:
        """Reads the document now, if it is one that is read again. Raises SettingsError if there are no settings yet
        and none can be read."""
        if self._settings is None:
            self()
        elif self._place.startswith("ssm:"):
            self._due = self._clock() + REREAD_SECONDS
            self._reread()

    def _load(self) -> Settings:
        settings = self._made(lambda place: self._noted(self._read(place)))
        if self._place.startswith("ssm:"):
            self._due = self._clock() + REREAD_SECONDS
        self._settings = settings
        return settings

    @property
    def _place(self) -> str:
        return self._env.get("TOOLWIRE_CONFIG", "").strip()

    def _noted(self, text: str) -> str:
        self._text = text
        return text

    def _made(self, read: Callable[[str], str]) -> Settings:
        return load_settings(self._env, read, own=self._env.get("TOOLWIRE_OWN_URLS", "").split())

    def _read_beside(self) -> None:
        """Starts one thread to read the document. Other requests do not wait for it."""
        with self._lock:
            if self._clock() < self._due:
                return
            self._due = self._clock() + REREAD_SECONDS
            self.reader = threading.Thread(target=self._reread, name="settings", daemon=True)
            self.reader.start()

    def _reread(self) -> None:
        try:
            text = self._read(self._place)
        except SettingsError as error:
            self._unread += 1
            if self._unread > 1:  # Lambda may have frozen the process during the first one
                self._tell(str(error))
            return
        self._unread = 0
        try:
            if text != self._text:
                self._settings = self._made(lambda _: text)
                self._text = text
                logger().info("the configuration has changed, and is in use")
        except SettingsError as error:
            self._tell(str(error))
        else:
            self._told = None

    def _tell(self, problem: str) -> None:
        """Logs, but not too often, that the settings stay as they were."""
        if self._told is not None and self._told[0] == problem and self._clock() < self._told[1]:
            return
        self._told = problem, self._clock() + QUIET_SECONDS
        observe.configuration_kept(problem)


current_settings = CurrentSettings()

"""A panel on an agent's chat: open while a person watches it, kept open by reads, closed when they leave.

The open panel makes the agent's chat session start. Reading and writing continue when a server restarts, also at
another address. Display is elsewhere.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

from toryo.cli.command_context import Here

CLOSES_WITHIN_SECONDS = 5.0
"""Leaving waits no longer for a server that does not answer; it closes the panel itself when its lease is over."""


@dataclass(frozen=True)
class Heard:
    """The result of one read; `away` says why there was no answer, and then the rest is empty."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    status: dict[str, Any] = field(default_factory=dict)
    away: Exception | None = None


class Panel:
    """A panel of a person (None: the owner of the token) on an agent of a project. `with panel:` opens and
    closes it.
    """

    def __init__(self, here: Here, project: str, agent: str, person: str | None) -> None:
        self.agent, self.project = agent, project
        self.status: dict[str, Any] = {}
        """Whether the agent is there, as it was said last."""
        self._here, self._person = here, person
        self._path = f"/projects/{project}/chats/{quote(agent, safe='')}"
        self._viewer: str | None = None
        self._look_within = 1
        self._state: str | None = None
        self._last = 0
        self._own: set[str] = set()
        self._marks_seen = True
        self._saying = threading.Lock()
        self._opening = threading.Lock()
        self._left = threading.Event()

    def __enter__(self) -> Self:
        self._keep_open()
        self._state = self.status["state"]
        return self

    def __exit__(self, *_: object) -> None:
        """At once: what does not answer is not waited for."""
        self._left.set()
        closing = threading.Thread(target=self._close, daemon=True)
        closing.start()
        closing.join(CLOSES_WITHIN_SECONDS)

    def before(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The newest messages there are, and how many of them were not seen yet. Looks begin after them."""
        answer = self._read(limit=most)
        self._last = answer["last"]
        self._keep_open(self._last)
        return answer["messages"], answer["unread"]

    def skip(self) -> None:
        """What there is already is not looked at; what of it was not seen stays unseen."""
        answer = self._read(limit=1)
        self._last, self._marks_seen = answer["last"], answer["unread"] == 0

    def say(self, content: str, until: float = -math.inf) -> dict[str, Any]:
        """The message as it was stored. Where the server is away, tries again until then, and never says it twice."""
        from toryo.client import Unreachable, wire

        after = self._last
        doubtful = False
        for pause in wire.pauses():
            try:
                with self._saying:
                    sent = (self._arrived(content, after) if doubtful else None) or self._send(content)
                    self._own.add(sent["message_id"])
                return sent
            except Unreachable as away:
                doubtful = doubtful or away.sent
                if time.monotonic() + pause > until or self._left.wait(pause):
                    raise
                self._here.look_again()
        raise AssertionError("pauses never end")

    def looks(self, until: float = math.inf) -> Iterator[Heard]:
        """One look after the other, until then or until the panel is closed. Raises Unreachable if it is away then."""
        from toryo.client import Unreachable, wire

        pauses = wire.pauses()
        lost: Exception | None = None
        while not self._left.is_set() and (seconds := until - time.monotonic()) > 0:
            try:
                if lost is not None:
                    self._keep_open(self._last)
                heard = self._look(seconds)
                pauses, lost = wire.pauses(), None
            except Unreachable as away:
                heard, lost = Heard(away=away), away
            if self._left.is_set():
                return
            yield heard
            if lost is not None:
                self._left.wait(min(next(pauses), max(0.0, until - time.monotonic())))
                self._here.look_again()
        if lost is not None:
            raise lost

    def _look(self, seconds: float) -> Heard:
        """What has come, after waiting for it; the panel stays open meanwhile, and what has come counts as seen."""
        wait = math.ceil(min(seconds, self._look_within))
        answer = self._read(after=self._last, state=self._state, wait_seconds=wait)
        with self._saying:
            new = [message for message in answer["messages"] if message["message_id"] not in self._own]
        self._keep_open(answer["last"])
        self._last, self._state = answer["last"], answer["status"]["state"]
        return Heard(new, answer["status"])

    def _keep_open(self, last: int = 0) -> None:
        """No longer once it is being closed: that would open another one, which nobody closes."""
        seen = last if self._marks_seen and last else None
        with self._opening:
            if self._left.is_set():
                return
            body = {"as_person": self._person, "viewer_id": self._viewer, "seen": seen}
            answer = self._here.send("POST", f"{self._path}/open", body)
            self._viewer, self._look_within = answer["viewer_id"], answer["heartbeat_seconds"]
            self.status = answer["status"]

    def _close(self) -> None:
        body = {"as_person": self._person, "viewer_id": self._viewer}
        with self._opening, contextlib.suppress(Exception):  # The client may have disconnected.
            self._here.send("POST", f"{self._path}/close", body)

    def _read(self, **wanted: Any) -> dict[str, Any]:
        return self._here.get(f"{self._path}/messages", as_person=self._person, **wanted)

    def _send(self, content: str) -> dict[str, Any]:
        answer = self._here.send("POST", f"{self._path}/messages", {"as_person": self._person, "content": content})
        self.status = answer["status"]
        message: dict[str, Any] = answer["message"]
        return message

    def _arrived(self, content: str, after: int) -> dict[str, Any] | None:
        """What was said and stored though the answer was lost."""
        for message in self._read(after=after)["messages"]:
            mine = message["from_agent_id"] != self.agent and message["kind"] == "message"
            if mine and message["content"] == content and message["message_id"] not in self._own:
                return dict(message)
        return None

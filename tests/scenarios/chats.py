"""Talk on a building site: what people write and read, agents that talk by a script, and what became of it.

Everything is seen as a person sees it, over REST. Whoever waits is woken by messages or by events.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.scenarios.programs import Agent
from tests.scenarios.sites import WITHIN, Site

Message = dict[str, Any]

WORDS = ["ringo", "gorira", "rappa", "panda", "dango", "gohan", "nasu", "suika", "kasa", "sakura", "rajio", "origami"]
CHAIN = dict(itertools.pairwise(WORDS))
GAME = {"about": r"shiritori, (?P<rounds>\d+) rounds", "rounds": "{{rounds}}", "opening": "ringo", "replies": CHAIN}
PLAYER = {
    "answers": [
        {
            "when": r"play shiritori with (?P<partner>\S+) for (?P<rounds>\d+) rounds",
            "answer": "I ask {{partner}}.",
            "start": {
                "target_agent_id": "{{partner}}",
                "about": "shiritori, {{rounds}} rounds",
                "report": "{{partner}} said {{last}} last.",
            },
        },
        {"when": "your name", "answer": "I am {{agent_name}}."},
    ],
    "otherwise": "{{text}}, you say?",
    "conversations": [GAME],
    "tasks": [
        {
            "match": r"Play shiritori with (?P<partner>\S+), (?P<rounds>\d+) rounds",
            "delegate": {"target_agent_id": "{{partner}}", "purpose": "shiritori, {{rounds}} rounds"},
        }
    ],
}
"""Plays the word game with whoever a person or a task names, says its name, and repeats what it does not know."""

OVER = ("ending", "ended", "expired")


def talker(site: Site, agent_id: str, /, *projects: str, script: dict[str, Any] = PLAYER, **more: Any) -> str:
    """Makes an agent that talks by a script."""
    return site.hire(agent_id, *projects, provider="script", provider_options={"script": script}, **more)


def person(site: Site, agent_id: str, /, *projects: str, **more: Any) -> str:
    return site.hire(agent_id, *projects, kind="human", role="manager", provider=None, **more)


@dataclass
class Chat:
    """What one person (the owner, if nobody is named) and one agent say to each other."""

    site: Site
    project_id: str
    agent_id: str
    person_id: str | None = None
    panel: str | None = None
    _read: list[Message] = field(default_factory=list)

    def say(self, content: str) -> Message:
        return dict(self._post("messages", {"content": content})["message"])

    def open(self) -> None:
        """Opens the panel, or keeps it open."""
        self.panel = self._post("open", {"viewer_id": self.panel} if self.panel else {})["viewer_id"]

    def close(self) -> int:
        """How many panels that were open are closed."""
        self.panel = None
        return int(self._post("close", {})["closed"])

    def read(self, wait_seconds: int = 0, state: str | None = None) -> dict[str, Any]:
        """What has come since; waits so long for more, or (where a state is given) for the status to change."""
        last = self._read[-1]["sequence"] if self._read else 0
        params: dict[str, Any] = {"after": last, "limit": 200, "wait_seconds": wait_seconds, **self._person()}
        answer: dict[str, Any] = self.site.people.rest(
            "GET", f"{self._path}/messages", params={**params, **({"state": state} if state else {})}
        )
        self._read += answer["messages"]
        return answer

    def thread(self) -> list[Message]:
        """All of it, Toryo's own words too."""
        self.read()
        return list(self._read)

    def told(self) -> list[str]:
        """What Toryo itself has told the person."""
        return [each["content"] for each in self.thread() if each["kind"] == "system"]

    def answers(self, count: int, within: float = WITHIN) -> list[str]:
        """What the agent has said, once it is so much."""
        limit = time.monotonic() + within
        while len(found := self._said()) < count:
            assert time.monotonic() < limit, f"{self.agent_id} has said {found} within {within:g} s"
            self.read(wait_seconds=1)
        return found

    def state(self) -> str:
        return str(self.read()["status"]["state"])

    def until(self, state: str, within: float = WITHIN) -> None:
        """Waits for the panel to show this."""
        limit = time.monotonic() + within
        while (now := self.state()) != state:
            assert time.monotonic() < limit, f"{self.agent_id} is {now}, not {state}, within {within:g} s"
            self.read(wait_seconds=1, state=now)

    def _said(self) -> list[str]:
        self.read()
        return [each["content"] for each in self._read if each["from_agent_id"] == self.agent_id]

    @property
    def _path(self) -> str:
        return f"/projects/{self.project_id}/chats/{self.agent_id}"

    def _person(self) -> dict[str, str]:
        return {"as_person": self.person_id} if self.person_id else {}

    def _post(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self.site.people.rest("POST", f"{self._path}/{what}", {**body, **self._person()})
        return answer


# --- conversations of agents -----------------------------------------------------------------------------------------


def conversations(site: Site, project_id: str) -> list[dict[str, Any]]:
    """In the order in which they were begun."""
    found = site.people.rest("GET", f"/projects/{project_id}/conversations")["conversations"]
    return sorted(found, key=lambda each: (each["created_at"], each["conversation_id"]))


def until_conversation(
    site: Site, project_id: str, *states: str, number: int = 1, within: float = WITHIN
) -> dict[str, Any]:
    """The project's first, second … conversation, once it is in one of these states (without any: once it is over)."""

    def there() -> dict[str, Any] | None:
        found = conversations(site, project_id)
        return found[number - 1] if len(found) >= number and found[number - 1]["state"] in (states or OVER) else None

    return site.until(f"conversation {number} is {' or '.join(states or OVER)}", there, within)


def said_in(site: Site, conversation: dict[str, Any]) -> list[Message]:
    found = site.people.rest("GET", f"/conversations/{conversation['conversation_id']}")["messages"]
    return list(found)


def history(site: Site, project_id: str, agent_id: str, other_id: str) -> list[Message]:
    """What one agent sees of the thread with another; the owner looks over its shoulder."""
    params: dict[str, Any] = {"with_agent_id": other_id, "limit": 200}
    answer = site.people.rest("GET", f"/projects/{project_id}/chats/{agent_id}/messages", params=params)
    assert answer["observing"]
    return list(answer["messages"])


# --- processes -------------------------------------------------------------------------------------------------------


def launches_by_purpose(site: Site, **wanted: str) -> Counter[tuple[str, str]]:
    """How often each was started, for what."""
    return Counter((launch["agent_id"], launch["purpose"]) for launch in site.launches(**wanted))


def process_of(site: Site, agent_id: str, purpose: str = "chat", *, after: Agent | None = None) -> Agent:
    """The process that is signed in for this purpose (another one than that which was there before); waits for it."""

    def there() -> Agent | None:
        found = [
            session for session in site.sessions() if (session["agent_id"], session["purpose"]) == (agent_id, purpose)
        ]
        process = site.agent_of(found[0]["launch_id"]) if found else None
        return process if process is None or after is None or process.launch_id != after.launch_id else None

    return site.until(f"{agent_id} is signed in for {purpose}", there)

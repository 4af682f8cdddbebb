"""Formats messages for people, and whether an agent is present."""

from __future__ import annotations

from typing import Any

from toryo.cli import output
from toryo.cli.chat_panel import Heard
from toryo.domain.texts import one_line, printable

_STATES = {
    "connected": "is connected",
    "connecting": "is connecting",
    "terminating": "is leaving",
    "cooling_down": "is in cooldown",
    "disconnected": "is not connected",
    "person": "is a person and reads messages when they sign in",
}
_NEEDS_NO_REASON = ("connected", "terminating", "person")


def message_lines(message: dict[str, Any], me: str | None = None) -> list[str]:
    """When, who, what; further lines below the first. `me` is called you."""
    who = "you" if message["from_agent_id"] == me else one_line(message["from_name"])
    first, *further = printable(message["content"]).split("\n")
    return [f"{output.clock(message['created_at'])}  {who}: {first}", *(f"    {each}" for each in further)]


def presence_line(agent: str, status: dict[str, Any]) -> str:
    """Whether an agent is there, and if not, why not."""
    state = _STATES.get(status["state"], status["state"])
    until = f" until {output.clock(status['until'])}" if status.get("until") else ""
    known = status["state"] in _NEEDS_NO_REASON or status.get("reason") == "already_running"
    return f"{agent} {state}{until}" + ("" if known else f": {status.get('explanation') or ''}".rstrip(": "))


class News:
    """Reports whether the agent is present, when that changes."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._said: str | None = None
        self._away = False

    def of(self, heard: Heard) -> str | None:
        if heard.away is not None:
            news = None if self._away else "Cannot reach the server. Trying again …"
            self._away = True
            return news
        said = presence_line(self._agent, heard.status)
        back = "The server is back. " if self._away else ""
        news = f"{back}{said}" if back or said != self._said else None
        self._said, self._away = said, False
        return news

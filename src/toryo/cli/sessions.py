"""`toryo sessions`: which agent processes are signed in; with --end, to end one by force."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, command, option


def add(app: typer.Typer) -> None:
    command(app, "sessions")(sessions)


def sessions(
    here: Here,
    end: Annotated[str | None, option("SESSION", "End this session or launch at once.")] = None,
    reason: Annotated[str | None, option("TEXT", "Why the session is ended.")] = None,
) -> None:
    """List active agent sessions, or end one."""
    if end is not None:
        answer = here.send("DELETE", f"/sessions/{end}", {"reason": reason})
        here.answer(answer, lambda: output.done(f"ended {end}"))
        return
    answer = here.get("/sessions")
    rows = [
        (
            session["session_id"],
            session["agent_id"],
            session["project_id"],
            session["purpose"],
            session.get("task_id"),
            doing(session.get("doing")),
            output.clock(session.get("expires_at")),
        )
        for session in answer["sessions"]
    ]
    columns = ("ID", "AGENT", "PROJECT", "PURPOSE", "TASK", "DOING", "ENDS AT")

    def show() -> None:
        output.table(columns, rows, empty="No sessions.")
        output.say(*(_not_confirmed(session) for session in answer["sessions"] if not session["confirmed"]))

    here.answer(answer, show)


SILENT = 90
"""Seconds after which the newest sign of an agent no longer says what it does."""


def doing(now: dict[str, Any] | None) -> str | None:
    """`→ Bash pytest -q · 12 s`: what an agent does now; after a while without a sign, for how long."""
    if now is None:
        return None
    seconds = max(0.0, output.seconds_since(now["since"]) or 0.0)
    words = " ".join(filter(None, (_MARKS.get(now["kind"], ""), now["tool"], now["text"])))
    return f"{words} · {'silent for ' if seconds >= SILENT else ''}{output.duration(seconds)}"


_MARKS = {"called": "→", "returned": "←", "failed": "✗"}


def _not_confirmed(session: dict[str, Any]) -> str:
    return (
        f"{session['agent_id']} ({session['session_id']}) was last seen at "
        f"{output.clock(session['last_seen_at'])}. Since the server started, neither the agent nor its "
        "Coordinator has reported."
    )

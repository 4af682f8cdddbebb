"""`toryo chat AGENT`: chat with an agent interactively, by lines on stdin, or by one message and its answer."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from toryo.cli import chat_terminal, message_format, output, project_lookup, waiting
from toryo.cli.chat_panel import Heard, Panel
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.exit_codes import Failure, Misuse, ServerAway

USUAL_WAIT_SECONDS = 300
"""How long the answer to a line on stdin is awaited where nothing is said."""

Person = Annotated[str | None, option("PERSON", "Act as this person; owners only.", "--as")]
Show = Callable[[Heard], None]


def add(app: typer.Typer) -> None:
    command(app, "chat")(chat)


def chat(
    here: Here,
    agent: Annotated[str, argument("AGENT", "The id of an agent or a person.")],
    person: Person = None,
    project: Annotated[
        str | None, option("PRJ", "The project of the chat; optional if AGENT belongs to only one.")
    ] = None,
    send: Annotated[str | None, option("TEXT", "Send this message instead of opening a thread.")] = None,
    wait: Annotated[
        int | None, option("SECONDS", "Wait this many seconds for the answer; exit code 1 if there is none.", min=1)
    ] = None,
) -> None:
    """Chat with an agent. Without --send: type messages; ^D ends it. Lines on stdin are sent one by one, each after the
    answer to the one before."""
    if send is None and wait is not None and _at_terminal():
        raise Misuse("--wait can only be used with --send, or with lines on stdin.", "Omit it, or add --send TEXT.")
    if send is None and here.json and _at_terminal():
        raise Misuse("--json can only be used with --send, or with lines on stdin.", "Omit it, or add --send TEXT.")
    panel = Panel(here, only_project(here, agent, project), agent, person)
    with _left_in_order():
        if send is not None:
            _once(here, panel, send, wait)
        elif _at_terminal():
            chat_terminal.talk(panel)
        else:
            _by_lines(here, panel, wait or USUAL_WAIT_SECONDS)


def only_project(here: Here, agent: str, named: str | None) -> str:
    """The project that is named, else the only one the agent belongs to."""
    if named is not None:
        return named
    its_own = sorted({decision["project_id"] for decision in here.get(f"/agents/{agent}/why")["decisions"]})
    if len(its_own) == 1:
        return str(its_own[0])
    if agent == here.get("/me")["person_id"]:
        raise Misuse(
            f"You cannot chat with yourself ({agent}).",
            "Choose an agent or another person: toryo agent list, toryo person list",
        )
    if not its_own:
        there = ", ".join(project_lookup.active(here))
        raise Misuse(
            f"{agent} belongs to no project, and a chat needs one.",
            f"Choose one with --project PRJ (available: {there})." if there else "Create one: toryo project add NAME",
        )
    raise Misuse(f"{agent} belongs to several projects: {', '.join(its_own)}.", "Choose one with --project PRJ.")


def _at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


@contextlib.contextmanager
def _left_in_order() -> Iterator[None]:
    """A terminal that is closed, or an end from outside, leaves like ^C: the panel is closed."""

    def leave(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = {each: signal.signal(each, leave) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _once(here: Here, panel: Panel, content: str, wait: int | None) -> None:
    if wait is None:
        sent = panel.say(content)
        here.answer(_exchange(panel, sent, []), lambda: output.done(f"sent {sent['message_id']}"))
        return
    with panel:
        panel.skip()
        show = _as_it_comes(here, panel)
        done = _answered(panel, content, wait, show)
    if here.json:
        output.document(done)


def _by_lines(here: Here, panel: Panel, wait: int) -> None:
    """Each line is said when the one before was answered. The first that is not answered ends it."""
    lines = _lines()
    if (first := next(lines, None)) is None:
        raise Misuse(
            "Nothing was sent: stdin is empty.", "Pass the message with --send TEXT, or type it in a terminal."
        )
    with panel:
        panel.skip()
        show = _as_it_comes(here, panel)
        done = [_answered(panel, first, wait, show)]
        done += [_answered(panel, line, wait, show) for line in lines]
    if here.json:
        output.document({"success": True, "exchanges": done})


def _lines() -> Iterator[str]:
    """Those of stdin that say something."""
    if sys.stdin is None:
        return
    with contextlib.suppress(AttributeError):
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    yield from (line for each in sys.stdin if (line := each.strip()))


def _answered(panel: Panel, content: str, wait: int, show: Show) -> dict[str, Any]:
    """Says it and awaits the answer; what comes is shown as it comes."""
    until = time.monotonic() + wait
    sent = _stored(panel, content, wait, until)
    for heard in panel.looks(until):
        show(heard)
        if answers := [message for message in heard.messages if _answers(message, sent, panel.agent)]:
            return _exchange(panel, sent, answers)
    raise Failure(
        f"{panel.agent} has not answered within {output.duration(wait)}."
        f" {message_format.presence_line(panel.agent, panel.status)}",
        f"The message is kept and delivered when the agent starts. See why: toryo why {panel.agent}",
        {**_exchange(panel, sent, []), "success": False},
    )


def _stored(panel: Panel, content: str, wait: int, until: float) -> dict[str, Any]:
    """The message as it was stored; says so if the server takes long. Raises ServerAway if it stays away until then."""
    from toryo.client import Unreachable

    long = output.duration(wait)
    told = f"The server does not answer, so the message is not stored yet. Waiting up to {long} for it; ^C ends this."
    slow = threading.Timer(waiting.SILENT_SECONDS, output.say, [told])
    slow.daemon = True
    slow.start()
    try:
        return panel.say(content, until)
    except Unreachable as away:
        raise ServerAway(
            f"The server has not answered within {long}, and may not have stored the message.",
            f"When it runs again (`toryo up`), look whether the message is there: toryo chats show {panel.agent}",
        ) from away
    finally:
        slow.cancel()


def _answers(message: dict[str, Any], sent: dict[str, Any], agent: str) -> bool:
    from_it: bool = message["from_agent_id"] == agent
    return from_it and message["sequence"] > sent["sequence"]


def _exchange(panel: Panel, sent: dict[str, Any], answers: list[dict[str, Any]]) -> dict[str, Any]:
    about = {"success": True, "project_id": panel.project, "agent_id": panel.agent}
    return {**about, "sent": sent, "answers": answers, "status": panel.status}


def _as_it_comes(here: Here, panel: Panel) -> Show:
    """Messages on stdout, unless a document is to come there; whether the agent is there, on stderr."""
    news = message_format.News(panel.agent)

    def show(heard: Heard) -> None:
        if (state := news.of(heard)) is not None:
            output.say(state)
        if not here.json:
            for message in heard.messages:
                output.done(*message_format.message_lines(message))
            sys.stdout.flush()

    show(Heard(status=panel.status))
    return show

"""`toryo open`: a link that signs a browser in to the dashboard, once; opened here if there is somebody to see it."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import Annotated, Any

import typer

from toryo.cli import failures, output
from toryo.cli.here import Here, command


def add(app: typer.Typer) -> None:
    command(app, "open")(open_)


def open_(
    here: Here,
    person: Annotated[str | None, typer.Option("--person", metavar="ID", help="For whom, if not for you.")] = None,
    login: Annotated[
        str | None, typer.Option("--as", metavar="ROLE", help="As what at most: owner, member or viewer.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the link.")] = False,
) -> None:
    """Sign a browser in to the dashboard: prints a link that opens once, within ten minutes."""
    made = link(here, person=person, login=login)
    here.answer(made, lambda: output.done(made["url"]))
    if not (here.json or no_browser or person):
        show(made["url"])


def link(here: Here, *, person: str | None = None, login: str | None = None) -> dict[str, Any]:
    """A new link: its `url`, and when it expires."""
    made = here.send("POST", "/sign-in-links", {"person_id": person, "login": login})
    address = f"{str(here.client.address).rstrip('/')}{made['path']}"
    return {"success": True, "url": address, "expires_at": made["expires_at"]}


def invite(here: Here, *, open_it: bool) -> None:
    """Says how to sign in to a server that has just come up, and does it where there is somebody to see it.

    A server without a token at hand (another one's database, another person's) is told as it is: the link is a help,
    not what it came up for.
    """
    try:
        address = link(here)["url"]
    except Exception as error:  # noqa: BLE001 - whatever it is, the server is up and goes on
        reason = failures.of(error)
        output.say(f"No link to sign in could be made ({reason.what if reason else error}). Try: toryo open")
        return
    output.say(f"Sign in, once, within ten minutes: {address}")
    if open_it:
        show(address)


def show(address: str) -> None:
    """In a browser, where there is a screen: on a server, one for terminals would take this one over."""
    if has_screen():
        webbrowser.open(address)


def has_screen() -> bool:
    if not sys.stderr.isatty():
        return False
    return sys.platform in ("darwin", "win32") or any(os.environ.get(each) for each in ("DISPLAY", "WAYLAND_DISPLAY"))

"""`toryo open`: a one-time link that signs a browser in to the dashboard; opens it if there is a desktop.

Every user of a machine can read the arguments of its processes. So the browser is started with a page that only this
user can read, which redirects to the link and is then deleted. The page is in the home directory itself, because
browsers in a snap see no hidden directories and have their own /tmp.
"""

from __future__ import annotations

import html
import os
import secrets
import shlex
import subprocess
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from toryo.cli import exit_codes, output
from toryo.cli.command_context import Here, command, flag, option
from toryo.cli.exit_codes import Failure

PAGE = "toryo-open-*.html"
REMOVED_AFTER_SECONDS = 60
"""Time for a browser to start and read the page."""
_REMOVE = "import os, sys, time; time.sleep(float(sys.argv[1])); os.unlink(sys.argv[2])"


def add(app: typer.Typer) -> None:
    command(app, "open")(open_)


def open_(
    here: Here,
    person: Annotated[str | None, option("ID", "The person who signs in (default: you).")] = None,
    login: Annotated[
        str | None, option("ROLE", "Give the browser at most the rights of an owner, member or viewer.", "--as")
    ] = None,
    no_browser: Annotated[bool, flag("Do not open a browser; print the link only.", "--no-browser")] = False,
) -> None:
    """Open the dashboard in a browser. Prints a sign-in link that works once, for ten minutes."""
    if not here.json:
        _refuse_without_dashboard(here)
    made = link(here, person=person, login=login)
    here.answer(made, lambda: output.done(made["url"]))
    if not (here.json or no_browser or person):
        show(made["url"])


def _refuse_without_dashboard(here: Here) -> None:
    """A link would lead nowhere. Asked of the server: it may be another machine's."""
    if not here.client.has("/index.html"):
        raise Failure(
            f"The server at {here.client.address} has no dashboard. Everything else works.",
            "If it runs from a checkout, run make web there, then toryo open again.",
        )


def link(here: Here, *, person: str | None = None, login: str | None = None) -> dict[str, Any]:
    """A new link: its `url`, and when it expires."""
    made = here.send("POST", "/sign-in-links", {"person_id": person, "login": login})
    address = f"{str(here.client.address).rstrip('/')}{made['path']}"
    return {"success": True, "url": address, "expires_at": made["expires_at"]}


def invite(here: Here, place: Path, *, open_it: bool) -> None:
    """Says how to sign in to a server that has just come up, and does it where there is somebody to see it.

    A link is worth what its person may do, so it is printed on a terminal only, and never into a log. A server without
    a token at hand (another one's database, another person's) is told as it is: the link is a help, not what it came
    up for.
    """
    from toryo.server.dashboard_files import NOT_BUILT, is_built

    if not is_built():
        output.say(NOT_BUILT)
        return
    if not sys.stderr.isatty():
        output.say(f"Sign in with: {output.program()} open --data-dir {shlex.quote(str(place))}")
        return
    try:
        address = link(here)["url"]
    except Exception as error:  # noqa: BLE001 - whatever it is, the server is up and goes on
        reason = exit_codes.failure_of(error)
        output.say(f"No sign-in link could be created ({reason.what if reason else error}). Run: toryo open")
        return
    output.say(f"Sign in with this link, which works once within ten minutes: {address}")
    if open_it:
        show(address)


def show(address: str) -> None:
    """In a browser, where there is a screen: on a server, one for terminals would take this one over."""
    if not has_screen():
        return
    try:
        page = _page(address, Path.home())
    except (OSError, RuntimeError) as error:  # no home, or none that can be written
        output.say(
            f"The browser could not be opened ({getattr(error, 'strerror', None) or error}). Open the link yourself."
        )
        return
    webbrowser.open(page.as_uri())
    remover = [sys.executable, "-c", _REMOVE, str(REMOVED_AFTER_SECONDS), str(page)]
    nowhere = subprocess.DEVNULL
    subprocess.Popen(remover, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


def has_screen() -> bool:
    if not sys.stderr.isatty() or os.environ.get("WSL_DISTRO_NAME"):  # a browser of Windows sees no file of WSL
        return False
    return sys.platform in ("darwin", "win32") or any(os.environ.get(each) for each in ("DISPLAY", "WAYLAND_DISPLAY"))


def _page(address: str, place: Path) -> Path:
    """A page, readable by this user alone, that leads to the address. Earlier ones are removed."""
    for path in place.glob(PAGE):
        with suppress(OSError):
            path.unlink()
    page = place / PAGE.replace("*", secrets.token_hex(8))
    descriptor = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    target = html.escape(address, quote=True)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(
            '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Toryo</title>\n'
            f'<meta http-equiv="refresh" content="0;url={target}">\n<a href="{target}">Sign in to Toryo</a>\n'
        )
    return page

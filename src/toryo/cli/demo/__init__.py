"""`toryo demo`: a complete run of Toryo without a model or an API key.

It starts a server and a Coordinator as real processes, creates the team of toryo/demo_team and its tasks, and lets them
work. stories.py defines the expected results, task_watch.py waits, answers.py does what a person would do, display.py
shows progress, verdict.py checks.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from toryo import data_directories, process_locks, untrusted_files
from toryo.cli.command_context import Here, command, flag, option
from toryo.cli.exit_codes import FAILED, INTERRUPTED, Failure, Misuse

LIMIT_SECONDS = 300
PATIENCE_SECONDS, KEPT_PATIENCE_SECONDS = 5.0, 60.0
"""How long something waits for a person before the demo does it itself; the second where somebody may be looking."""
MARKER = "demo"
"""A file in `.toryo/`: a demo created this directory, so another demo may use it."""
TEAM = "toryo.yaml"
REVIEWED = "teahouse"
"""The project in which a person decides."""
LAST_WORDS = 10
MAX_CONCURRENT = 8
"""Enough that no story waits for a process of another one."""


def add(app: typer.Typer) -> None:
    command(app, "demo", options=("json",))(demo)


def demo(
    here: Here,
    dir: Annotated[
        Path | None, option("DIR", "The directory to work in, new or empty (default: a temporary one).")
    ] = None,
    keep: Annotated[
        bool, flag("Offer the dashboard, and keep the server running afterwards, until ^C.", "--keep")
    ] = False,
    quick: Annotated[bool, flag("Without the pauses in which people can watch, for scripts.", "--quick")] = False,
    no_browser: Annotated[
        bool, flag("Do not open the dashboard with --keep; print the link only.", "--no-browser")
    ] = False,
) -> None:
    """Run a demo team, for about a minute. No model and no API key are needed. What waits for a person is shown, and
    settled by the demo itself. With --dir its files are kept; otherwise they are deleted at the end, except those of a
    story that failed."""
    from toryo.cli.child_processes import heed_terminate

    heed_terminate()
    temporary = None if dir else Path(tempfile.mkdtemp(prefix="toryo-demo-"))
    directory = _directory(dir) if dir else Path(str(temporary), "crew")
    data = _data_directory(directory, temporary and temporary / "data")
    try:
        ends = "ends it" if temporary is None else "stops it and removes its files (--dir keeps them)"
        as_promised = _perform(
            here, directory, data, keeps_up=ends if keep else None, open_it=not no_browser, quick=quick
        )
    except KeyboardInterrupt:
        _remove(temporary)
        raise typer.Exit(INTERRUPTED) from None
    if as_promised:
        _remove(temporary)
    if not here.json:
        from toryo.cli.demo import display

        display.say_removed() if temporary is not None and as_promised else display.where(directory, data)
    if not as_promised:
        raise typer.Exit(FAILED)


def _remove(temporary: Path | None) -> None:
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)


def _perform(here: Here, directory: Path, data: Path, *, keeps_up: str | None, open_it: bool, quick: bool) -> bool:
    """Runs the demo in a directory; whether all results are correct. `keeps_up`: run until ^C, and what ^C does."""
    from toryo import demo_team
    from toryo.cli import open_dashboard, output, task_following
    from toryo.cli.child_processes import Crew, without_toryo
    from toryo.cli.demo import display, task_watch, verdict
    from toryo.cli.demo.answers import Answers
    from toryo.cli.demo.stories import STORIES

    log = directory / "demo.log"
    output.say(f"Starting a server and a Coordinator in {directory}")
    coordinating = ["--max-concurrent", str(MAX_CONCURRENT)]
    with (
        _shown_on_failure(log),
        Crew(data, ["--port", "0"], coordinating, without_toryo(os.environ), _into(log)) as crew,
    ):
        there = Here(data_dir=data, server=crew.address, json=here.json)
        since = task_following.newest_event(there)
        worktrees = _make_team(there, directory)
        if keeps_up is not None:
            open_dashboard.invite(there, data, open_it=open_it)
        seen = task_watch.file_tasks(there, STORIES, demo_team.QUICK_PAUSE if quick else demo_team.PAUSE)
        progress = display.Progress(seen, live=sys.stderr.isatty() and not here.json)
        patience = 0.0 if quick else PATIENCE_SECONDS if keeps_up is None else KEPT_PATIENCE_SECONDS
        seen.answers = Answers(there, REVIEWED, patience, progress.told)
        if not worktrees:
            output.say("There is no git 2.38 or newer, so nothing is reviewed and merged: agents share a directory.")
            seen.answers.expected.discard("review")
        with progress.shown():
            task_watch.until_over(there, seen, LIMIT_SECONDS, progress.changed, lambda: crew.ended(within_seconds=0))
        found = verdict.judge(there, seen, STORIES, directory, since)
        here.answer(found.document(directory), lambda: display.result(found))
        if not seen.over:
            display.stuck(there, seen, LIMIT_SECONDS)
        if keeps_up is not None:
            output.say(f"The demo keeps running at {crew.address} (data in {data}); ^C {keeps_up}.")
            crew.wait()
    return found.ok


def _directory(given: Path) -> Path:
    """A directory for the demo. Raises Misuse, before anything is written, if it has files that no demo made."""
    directory = given.expanduser().resolve()
    elsewhere = "Choose a new or empty directory, or that of an earlier demo."
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        if not (directory / data_directories.MARK / MARKER).is_file():
            raise Misuse(f"{directory} is not empty and was not created by the demo.", elsewhere)
        if not _is_demos(directory / TEAM):
            raise Misuse(f"{directory / TEAM} was changed and would be overwritten.", elsewhere)
        for holder in process_locks.holders(data_directories.prepare(directory)):
            raise Misuse(
                f"A {holder.name} (pid {holder.pid}) is running there.",
                f"Stop it first: cd {shlex.quote(str(directory))} && toryo down",
            )
    return directory


def _is_demos(team: Path) -> bool:
    from toryo import demo_team

    texts = (demo_team.text(worktrees=True), demo_team.text(worktrees=False))
    return not team.exists() or untrusted_files.text(team, errors="replace") in texts


def _data_directory(directory: Path, place: Path | None) -> Path:
    """Makes the demo's directory and its data directory. They are separate because agents work in the first."""
    directory.mkdir(parents=True, exist_ok=True)
    data = data_directories.prepare(directory, place)
    (directory / data_directories.MARK / MARKER).touch()
    return data


def _make_team(here: Here, directory: Path) -> bool:
    """Makes the project directories and applies team.yaml, as a user applies a toryo.yaml. Whether tasks have
    worktrees."""
    from toryo import demo_team
    from toryo.cli import manifest, manifest_apply

    try:
        worktrees = demo_team.lay_out(directory)
    except OSError as error:
        raise Failure(f"{error.filename or directory}: {error.strerror}.", "Choose another directory.") from error
    (directory / TEAM).write_text(demo_team.text(worktrees=worktrees), "utf-8")
    manifest_apply.apply(here, manifest.read(directory / TEAM), yes=True)
    return worktrees


def _into(log: Path) -> Callable[[str, str], None]:
    """Writes the output of the server and the Coordinator to a file, because the screen shows the tasks."""

    def hear(name: str, line: str) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{name}: {line}\n")

    return hear


@contextmanager
def _shown_on_failure(log: Path) -> Iterator[None]:
    """If a process does not start or dies, shows the end of its log."""
    try:
        yield
    except Failure:
        lines = untrusted_files.text(log, largest=untrusted_files.LARGEST_RECORD).splitlines() if log.exists() else []
        from toryo.cli import output

        output.say(*lines[-LAST_WORDS:])
        raise

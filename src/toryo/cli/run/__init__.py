"""`toryo run FILE`: from a file to its result. Uses the server of this directory, or starts one (background.py),
applies the file, and follows what it has filed (follow.py, standing.py) until it is done or nothing of it goes on; then
says what came of it (summary.py).
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toryo.cli import manifest_file, wider_rights
from toryo.cli.command_context import Here, command, flag, option
from toryo.cli.exit_codes import Misuse
from toryo.cli.run.follow import PATIENCE_SECONDS
from toryo.usual_slots import USUAL_SLOTS

if TYPE_CHECKING:
    from toryo.cli.manifest import Manifest
    from toryo.cli.manifest_apply import Applied
    from toryo.cli.run import summary
    from toryo.cli.run.background import Supported


def add(app: typer.Typer) -> None:
    command(app, "run")(run)


def run(
    here: Here,
    file: manifest_file.File = Path(manifest_file.TEAM),
    values: manifest_file.Values = None,
    wait: Annotated[
        float,
        option(
            "SECONDS",
            f"How long to wait for a person when nothing else goes on (default: {PATIENCE_SECONDS:g}).",
            min=0,
        ),
    ] = PATIENCE_SECONDS,
    max_concurrent: Annotated[
        int | None,
        option(
            "N", f"How many agents to run at a time, if this starts the Coordinator (default: {USUAL_SLOTS}).", min=1
        ),
    ] = None,
    down: Annotated[bool, flag("At the end, stop the server and the Coordinator, if toryo run started them.")] = False,
    yes: wider_rights.YesOfAgents = False,
) -> None:
    """Apply a toryo.yaml, and follow its tasks to their end. They are closed and merged then. Starts a server and a
    Coordinator if none runs here. ^C leaves everything at work, and the same command goes on. The exit code is 0 if all
    was done, 1 if something failed or is blocked, 5 if a person is needed."""
    from toryo.cli import output
    from toryo.cli.child_processes import heed_terminate
    from toryo.cli.run import background

    wanted = manifest_file.noted(file, values, "run")
    if not wanted.tasks:
        wanted.fail_if_mistaken()
        raise Misuse(f"{file} has no tasks.", "Add tasks: to it, or apply it with toryo apply.")
    heed_terminate()
    there = background.supported(here, max_concurrent)
    try:
        found = _performed(here, there, wanted, wait, yes=yes)
    except KeyboardInterrupt:
        if not down:
            output.say(f"The work goes on. The same command follows it again; {output.program()} down stops it.")
        raise
    finally:
        if down and there.background is not None:
            there.background.stop()
    here.answer(found.document(), lambda: output.done(*found.told()))
    if found.outcome != "done":
        raise typer.Exit(found.exit_code)


def _performed(here: Here, there: Supported, wanted: Manifest, wait: float, *, yes: bool) -> summary.Summary:
    """`there` is asked once the file is applied: then the server may be away for a while."""
    from toryo.cli import manifest_apply, manifest_starts, output
    from toryo.cli.run import follow, summary
    from toryo.cli.task_following import newest_event

    if there.background is not None and not there.background.runs:
        output.say(f"Starting a server and a Coordinator; their output is in {there.background.log}")
        there.background.start()
    filed = follow.Filed(time.monotonic(), after=newest_event(here))
    ready = manifest_apply.prepared(here, wanted, yes=yes)
    wider_rights.confirm(here, ready.wider, "This file")
    applied = ready.carry_out()
    filed.ids = set(applied.tasks)
    say = output.say if here.json else output.done
    say(*_filed(applied), *manifest_starts.told(applied.waiting))
    follow.until_nothing_moves(there, filed, sorted({*applied.tasks.values()}), wait, say)
    filed.finished = time.monotonic()
    return summary.of(there, filed)


def _filed(applied: Applied) -> list[str]:
    """What was made for it: everything but the tasks, and how many of these."""
    made = Counter(change.verb for change in applied.changes if change.kind == "task")
    lines = [line for change in applied.changes if change.kind != "task" for line in change.told()]
    known = len(applied.tasks) - made["created"]
    were = f", {known} {'was' if known == 1 else 'were'} there already" if known else ""
    return [*lines, f"{made['created']} {'task' if made['created'] == 1 else 'tasks'} created{were}"]

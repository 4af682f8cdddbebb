"""`toryo worktrees` and `toryo task diff|merge|request-changes|discard`: the changes of tasks in their worktrees.

The files are on a Coordinator's machine: the command asks it and waits for its answer, with a time limit.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from toryo.cli import output, shell_completion, task_options, terminal_questions
from toryo.cli.command_context import Here, argument, command, flag, option
from toryo.cli.exit_codes import Failure, Misuse
from toryo.cli.reconnecting import following
from toryo.domain.texts import coloured, one_line, printable
from toryo.domain.times import SECOND
from toryo.domain.worktrees import KEPT_WITHIN

LOOK_SECONDS = 20
"""How long one look waits at the server."""
PATIENCE_SECONDS = 120.0

Id = Annotated[str, shell_completion.TASK]
Patience = Annotated[
    float, option("SECONDS", "How many seconds to wait for the Coordinator.", min=0, envvar="TORYO_WORKTREE_JOB_WAIT")
]


def add(app: typer.Typer) -> None:
    command(app, "worktrees")(worktrees)


def add_to_tasks(group: typer.Typer) -> None:
    command(group, "diff")(diff)
    command(group, "merge")(merge)
    command(group, "request-changes")(request_changes)
    command(group, "discard")(discard)


def worktrees(
    here: Here,
    project: Annotated[str | None, option("PRJ", "Limit to this project.")] = None,
    everything: Annotated[bool, flag("Include merged and discarded worktrees.", "--all")] = False,
) -> None:
    """List the worktrees of tasks. Shows the branch, the size of the changes, and what prevents a merge."""
    known = here.get("/projects")["projects"]
    projects = [project] if project else [each["project_id"] for each in known]
    state = None if everything else "open"
    shown = [each for name in projects for each in here.every(f"/projects/{name}/worktrees", "worktrees", state=state)]
    left = list(_leftovers(here, projects, shown))
    answer = {"success": True, "worktrees": shown, "leftovers": left}
    isolated = any(each["settings"]["isolation"] == "worktree" for each in known if each["project_id"] in projects)
    here.answer(answer, lambda: _print_worktrees(here, shown, left, isolated=isolated))


def diff(
    here: Here,
    task: Id,
    stat: Annotated[bool, flag("Show only the files, and how many lines were changed in each.", "--stat")] = False,
    context: Annotated[
        int, option("LINES", "Unchanged lines to show around each change.", "--context", "-U", min=0, max=1000)
    ] = 3,
    wait: Patience = PATIENCE_SECONDS,
) -> None:
    """Show the changes of a task, committed or not. This is what a merge would bring."""
    answer = _done(here, here.send("POST", f"/tasks/{task}/worktree/diff", {"context": context}), wait)["answer"]
    here.answer({"success": True, "task_id": task, **answer}, lambda: _print_diff(answer, stat=stat))


def merge(
    here: Here,
    task: Id,
    into: Annotated[
        str | None, option("BRANCH", "The target branch (default: the branch the work started from).")
    ] = None,
    message: Annotated[str | None, option("TEXT", "The commit message of the merge.", "--message", "-m")] = None,
    only: Annotated[bool, flag("Leave out the changes of its subtasks.", "--only")] = False,
    anyway: Annotated[
        bool,
        flag(
            "Merge it as it is: also while requested changes are being made, if it has changed since its checks "
            "passed, and onto commits of the base branch that you were told of.",
            "--anyway",
        ),
    ] = False,
    wait: Patience = PATIENCE_SECONDS,
) -> None:
    """Merge the changes of a task and its subtasks. A conflict is reported and changes nothing. If the project opens
    pull requests, one is opened instead."""
    body = {"into": into, "message": message, "below": not only, "anyway": anyway}
    job = _over(here, _merge_asked(here, _merge_path(task), body), wait)
    asks = not job["done"] and (job["answer"] or {}).get("anyway") and terminal_questions.possible(here)
    if asks and terminal_questions.yes(f"{job['answer']['trouble']} Merge it as it is?"):
        job = _over(here, _merge_asked(here, _merge_path(task), {**body, "anyway": True}), wait)
    merged = job["answer"].get("merged", [])
    if not here.json:
        for each in merged:
            stays = [f"The worktree was kept: {each['kept']}"] if each.get("kept") else []
            output.done(f"merged {each['task_id']} into {each['into']} ({each['commit'][:10]})", *stays)
        if (opened := job["answer"].get("pull_request")) is not None and job["done"]:
            output.done(f"pull request {opened['url']} ({opened['state']})", job["answer"].get("message") or "")
    if not job["done"]:
        raise _hindered(job, "Nothing was merged." if not merged else "The merges listed above are kept.")
    here.answer({"success": True, "task_id": task, **job["answer"]}, lambda: None)


def request_changes(
    here: Here,
    task: Id,
    text: Annotated[str, argument("TEXT", "What has to change.")],
    context: task_options.Context = None,
) -> None:
    """Request changes to what a completed task has done. A new task for the same agent makes them; until it ends, the
    review waits for it."""
    body = {"text": text, "context": task_options.given_context(context)}
    answer = here.send("POST", f"/tasks/{task}/worktree/changes", body)
    made = answer["changes_requested"]
    waits = f"It is not started yet. {answer['waits']}" if "waits" in answer else ""
    here.answer(answer, lambda: output.done(*filter(None, [f"created {made['task_id']}: {made['title']}", waits])))


def discard(
    here: Here,
    task: Id,
    yes: Annotated[bool, flag("Do not ask for confirmation.", "--yes", "-y")] = False,
    wait: Patience = PATIENCE_SECONDS,
) -> None:
    """Discard the changes of a task. Prints how to restore its commits."""
    if not yes:
        _confirm(here, here.get(f"/tasks/{task}/worktree")["worktree"])
    answer = _done(here, _asked(here, f"/tasks/{task}/worktree/discard"), wait)["answer"]
    words = answer.get("message") or f"{task} no longer has a worktree."
    here.answer({"success": True, "task_id": task, **answer}, lambda: output.done(words))


def merge_all(here: Here, task: str, wait: float) -> list[dict[str, Any]]:
    """Merges the changes of a task and its subtasks, and returns the merges. Raises Failure if it cannot."""
    answer: dict[str, Any] = _done(here, _asked(here, _merge_path(task)), wait)["answer"]
    return list(answer["merged"])


def _merge_path(task: str) -> str:
    return f"/tasks/{task}/worktree/merge"


# --- asking and waiting ----------------------------------------------------------------------------------------------


def _asked(here: Here, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Asks for what moves files, as soon as nobody is just leaving them: a task is completed a moment before its
    process has left, and a request at that moment need not be repeated."""
    from toryo.client import RefusalError

    until = time.monotonic() + KEPT_WITHIN / SECOND
    while True:
        try:
            return here.send("POST", path, body)
        except RefusalError as no:
            if not no.data.get("leaving") or time.monotonic() >= until:
                raise
        time.sleep(0.2)


def _merge_asked(here: Here, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Asks for a merge; where changes were requested and are not made yet, only after a yes."""
    from toryo.client import RefusalError

    try:
        return _asked(here, path, body)
    except RefusalError as no:
        if not no.data.get("changes_requested") or not terminal_questions.possible(here):
            raise
        if not terminal_questions.yes(f"{no.message} Merge it as it is?"):
            raise typer.Abort from None
    return _asked(here, path, {**body, "anyway": True})


def _done(here: Here, asked: dict[str, Any], patience: float) -> dict[str, Any]:
    job = _over(here, asked, patience)
    if not job["done"]:
        raise _hindered(job)
    return job


def _over(here: Here, asked: dict[str, Any], patience: float) -> dict[str, Any]:
    """The worktree job with its answer; a failure where none comes in time."""
    job_id, until, patient = asked["job_id"], time.monotonic() + patience, following(here)
    while True:
        left = max(0, min(LOOK_SECONDS, int(until - time.monotonic())))
        patient.patience = max(0.0, until - time.monotonic())
        job: dict[str, Any] = patient.get(f"/worktree-jobs/{job_id}", wait_seconds=left)["worktree_job"]
        if job["finished_at"] is not None:
            return job
        if time.monotonic() >= until - 1:
            raise Failure(
                f"The Coordinator has not finished within {output.duration(patience)} ({job_id}).",
                "It may still finish. Check with toryo worktrees, and see what the Coordinator prints.",
                {"job_id": job_id},
            )


def _hindered(job: dict[str, Any], besides: str = "") -> Failure:
    answer = job["answer"] or {}
    trouble = str(answer.get("trouble") or "The Coordinator could not do it and reported no reason.")
    where = answer.get("hindered_by")
    at = f"{where}: " if where and where != job["task_id"] else ""
    said = besides if besides and besides not in trouble else ""
    return Failure(f"{at}{trouble}", said, {"task_id": job["task_id"], **answer})


def _confirm(here: Here, worktree: dict[str, Any]) -> None:
    words = f"Discard {worktree['branch']} ({_amount(worktree)}) and its directory {worktree['path']}?"
    terminal_questions.confirm(here, words, unasked=Misuse("Toryo cannot undo this.", "Use --yes to confirm."))


def _leftovers(here: Here, projects: list[str], found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Directories on this machine that no open worktree has: only told, for they may hold somebody's work."""
    from toryo import data_directories
    from toryo.coordinator import worktrees as disk

    known = [each["task_id"] for each in found if each["state"] == "open"]
    for project in projects:
        place = data_directories.work_dir(data_directories.data_dir(here.data_dir)) / "worktrees" / project
        for leftover in disk.leftovers(place, known):
            branch = leftover.worktree.branch if leftover.worktree else None
            yield {"project_id": project, "path": str(leftover.path), "size": leftover.size, "branch": branch}


# --- for people ------------------------------------------------------------------------------------------------------


def _print_worktrees(here: Here, shown: list[dict[str, Any]], left: list[dict[str, Any]], *, isolated: bool) -> None:
    """A line for each, and below it its place and what prevents a merge. Paths are copied, so they are never folded."""
    for each in left:
        branch = f", branch {each['branch']}" if each["branch"] else ""
        words = (
            f"{each['path']} belongs to no open task ({each['size'] // 1024} kB{branch}). Check it, then remove "
            "it yourself."
        )
        output.say(words)
    if not shown:
        how = "" if isolated else " To give every task its own: toryo project edit PRJ --set isolation=worktree"
        output.say(f"No worktrees.{how}")
    rows = [(each["task_id"], _worker(here, each["task_id"]), _amount(each), _state(each)) for each in shown]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for each, row in zip(shown, rows, strict=True):
        output.done("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
        if each["state"] == "open":
            output.done(f"    {each['branch']} in {each['path']}")
        if each["trouble"]:
            output.done(f"    ! {each['trouble']}")


def _state(worktree: dict[str, Any]) -> str:
    if (changes := worktree["changes_requested"]) is not None:
        return f"changes requested -> {changes['title']} ({changes['task_id']})"
    merged = f"merged into {worktree['merged_into']}" if worktree["state"] == "merged" else str(worktree["state"])
    opened = worktree["pull_request"]
    return merged if opened is None else f"{merged}, pull request {opened['url']} ({opened['state']})"


def _worker(here: Here, task: str) -> str:
    return str(here.get(f"/tasks/{task}")["task"].get("assignee_id") or "-")


def _amount(worktree: dict[str, Any]) -> str:
    if not worktree["files_changed"] and not worktree["commits"]:
        return "no changes saved yet"
    files = f"{worktree['files_changed']} file{'s' if worktree['files_changed'] != 1 else ''}"
    return f"+{worktree['insertions']} -{worktree['deletions']} in {files}"


def _print_diff(answer: dict[str, Any], *, stat: bool) -> None:
    if not answer["files"]:
        output.say("There are no changes.")
        return
    _page("\n".join(_stat(answer["files"])) + "\n" if stat else _patch(answer["patch"]))
    if answer["truncated"] and not stat:
        output.say(
            "The patch is too long to show completely. --stat lists every file; git diff shows the rest on that "
            "machine."
        )


def _stat(files: list[dict[str, Any]]) -> list[str]:
    names = [_named(each) for each in files]
    width = max(map(len, names))
    lines = [f" {name:<{width}} | {_lines_of(each)}" for name, each in zip(names, files, strict=True)]
    more, fewer = (sum(each[name] for each in files) for name in ("insertions", "deletions"))
    return [*lines, f" {len(files)} file{'s' if len(files) != 1 else ''} changed, +{more} -{fewer}"]


def _named(each: dict[str, Any]) -> str:
    """On one line, whatever is in the name."""
    name = each["path"] if not each["old_path"] else f"{each['old_path']} => {each['path']}"
    return one_line(name)


def _lines_of(each: dict[str, Any]) -> str:
    figures = "binary" if each["binary"] else f"+{each['insertions']} -{each['deletions']}"
    return figures if each["status"] == "modified" else f"{figures} ({one_line(each['status'])})"


def _patch(patch: str) -> str:
    """As it is, for programs; where somebody looks, coloured as git does, and without what steers a terminal."""
    if sys.stdout.isatty():
        patch = printable(patch)
    if not _coloured():
        return patch
    in_header, lines = False, []
    for line in patch.split("\n"):
        in_header = line.startswith("diff ") or (in_header and not line.startswith("@@"))
        code = "1" if in_header else {"@": "36", "+": "32", "-": "31"}.get(line[:1], "")
        lines.append(f"\x1b[{code}m{line}\x1b[0m" if code and line else line)
    return "\n".join(lines)


def _coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _page(text: str) -> None:
    """Through a pager where somebody looks; as it is elsewhere, and where there is no pager."""
    wanted = shlex.split(os.environ.get("PAGER") or "less")
    pager = shutil.which(wanted[0]) if wanted and sys.stdout.isatty() else None
    if pager is None:
        output.patch(text)
        return
    environment = {"LESS": "FRX", **os.environ}
    with subprocess.Popen([pager, *wanted[1:]], stdin=subprocess.PIPE, text=True, env=environment) as reading:
        try:
            reading.communicate(coloured(text))
        except BrokenPipeError:  # it was left before the end
            reading.wait()

"""What the merge queue tells the author's agent about work that it could not merge, and people about an entry: both
sides of a conflict, or the checks that failed, with the end of their output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from toryo.deeds import deed
from toryo.domain.merge_queue import SENT_BACK_AT_MOST, Entry, State
from toryo.domain.projects import Language
from toryo.domain.tasks import CheckEvidence, CheckOutcome, Task
from toryo.domain.texts import marked, one_line, quoted
from toryo.domain.wording import Worded, constant, say, together
from toryo.domain.worktrees import Worktree
from toryo.operations.calls.call import Call
from toryo.operations.tasks import subtask_work
from toryo.operations.translations import translate
from toryo.operations.worktrees import worktree_locks

MOST_OTHERS = 5
MOST_FILES = 20
LONGEST_OUTPUT = 4_000
"""Characters of the output of one check."""
BRIEF = 300
PAUSED = "The queue is paused."
RESOLVE = constant(
    "Both sides have been merged in your worktree. Where they conflict, the files contain both, between lines that "
    "begin with <<<<<<< and >>>>>>>. Change these places so that what both sides wanted holds, and remove these lines. "
    "A file that one side deleted, or that is not text, is there as one side left it: decide about it. You need no "
    "git: what you leave is committed. Do not discard either side. Then report completion."
)
_PLAIN_NAME = re.compile(r"[\w./@+-]+")
"""Of a file: it can be no sentence. Agents choose these names."""


def for_agent(call: Call, task: Task, entry: Entry, language: Language) -> tuple[str, str]:
    """Title and description of the task that corrects it, in the language of the project."""
    conflict = entry.state is State.CONFLICT
    title = (
        say("Resolve the conflict: {title}", title=task.title)
        if conflict and (entry.conflict or {}).get("within")
        else say("Resolve the conflict with {target}: {title}", target=entry.target, title=task.title)
        if conflict
        else say("Fix the failed checks: {title}", title=task.title)
    )
    lines = _of_conflict(call, task, entry) if conflict else _of_failure(entry)
    return translate(title, language), "\n\n".join(translate(each, language) for each in lines)


def of_subtask(
    call: Call, worktree: Worktree, task: Task, part: Task, others: Sequence[Task], *, by_hand: bool
) -> tuple[str, str]:
    """Title and description of the task that resolves the conflict of a subtask's work with what else belongs to the
    task, in the language of the project. `by_hand`: nobody can be asked to."""
    found = (worktree.subtasks or {})[part.id]
    work = call.tx.worktrees.find(part.id)
    language = call.project(task.project_id).settings.language
    files = _files({"files": found.get("files") or []})
    lines = [
        say("The work of subtask {task_id}, {title}, conflicts in {files}.", task_id=part.id, title=quoted(part.title),
            files=files),
        say("It could not be merged into {parent}, {title}, for which both are needed.", parent=task.id,
            title=quoted(task.title)),
        together([constant("The other side:"), *(_subtask(each) for each in others)], "\n")
        if others
        else constant("The other side is what the task itself has changed."),
        RESOLVE,
    ]  # fmt: skip
    if by_hand and work is not None:
        how = subtask_work.merged_by_hand(worktree, work.branch)
        lines.append(together((how, constant("Then cancel this task."))))
    title = say("Resolve the conflict: {title}", title=part.title)
    return translate(title, language), "\n\n".join(translate(each, language) for each in lines)


def _subtask(task: Task) -> Worded:
    return say("- task {task_id}, {title}", task_id=task.id, title=quoted(task.title))


def in_brief(entry: Entry) -> Worded:
    """Why an entry came back or was removed, in a sentence or two."""
    if entry.reason is not None:
        return constant(entry.reason)
    if entry.state is State.CONFLICT and entry.conflict is not None:
        files = _files(entry.conflict)
        if entry.conflict.get("within"):
            return say(
                "The work of {task_id} conflicts with that of {others}, which belongs to the same task, in {files}.",
                task_id=entry.conflict.get("work") or entry.task_id,
                others=", ".join(str(each.get("task_id")) for each in entry.conflict.get("others", ())),
                files=files,
            )
        return say("It conflicts with {target} in {files}.", target=entry.target, files=files)
    failed = [each for each in entry.evidence if each["outcome"] == CheckOutcome.FAILED.value]
    if not failed:
        return constant("")
    first = failed[0]
    return say(
        "The check {check} failed: {why}", check=one_line(first["check"])[:BRIEF], why=one_line(first["output"])[:BRIEF]
    )


def for_people(call: Call, entry: Entry) -> Worded:
    """Why an entry came back; where no agent corrects it, also why, and what to do by hand."""
    brief = in_brief(entry)
    if not entry.for_people or entry.reason is not None:
        return brief
    nobody = constant("No active agent that could correct it may edit files.")
    if entry.sent_back >= SENT_BACK_AT_MOST:
        nobody = say("It was corrected {count} times, so no agent is asked again.", count=entry.sent_back)
    return together((brief, nobody, _by_hand(call, entry)))


def _by_hand(call: Call, entry: Entry) -> Worded:
    """Of a conflict with the target, which the worktree knows."""
    own = call.tx.worktrees.find(entry.task_id) if entry.state is State.CONFLICT else None
    if own is None or not own.open or own.base_branch != entry.target or (entry.conflict or {}).get("within"):
        return constant("")
    again = say("Then add it to the queue again{deed:: …|.}", deed=deed("add_to_merge_queue", task_id=entry.task_id))
    return together((subtask_work.merged_by_hand(own, entry.target), again))


def obstacle(call: Call, entry: Entry) -> Worded:
    """What keeps an entry that waits from being merged, although nothing is wrong with it; empty if nothing does."""
    project = call.project(entry.project_id)
    if not project.active:
        return say("Project {project_id} is {status}.", project_id=project.id, status=project.status)
    if worktree_locks.is_away(call, entry.coordinator_id):
        return worktree_locks.away(call, entry.coordinator_id)
    return constant(entry.trouble or "")


def where(call: Call, entry: Entry, place: int, many: int, *, paused: bool) -> Worded:
    """Where an entry stands in the queue."""
    if entry.state is State.CHECKING:
        checked = say(
            "Its work is merged with {target} and checked now (place {place} of {many} in the merge queue).",
            target=entry.target,
            place=place,
            many=many,
        )
        return together([checked, obstacle(call, entry)])
    waits = say(
        "It waits to be merged into {target}: place {place} of {many} in the merge queue.",
        target=entry.target,
        place=place,
        many=many,
    )
    return together([waits, constant(PAUSED) if paused else obstacle(call, entry)])


def _of_conflict(call: Call, task: Task, entry: Entry) -> Iterator[Worded]:
    conflict: dict[str, Any] = entry.conflict or {}
    worktree = call.tx.worktrees.find(task.id)
    yield say(
        "The merge queue could not merge this work into {target}: both sides have changed {files}.",
        target=entry.target,
        files=_files(conflict),
    )
    if conflict.get("within"):
        yield from _within(call, task, conflict)
        return
    yield say(
        "Your side: task {task_id}, {title}, on branch {branch}.",
        task_id=task.id,
        title=quoted(task.title),
        branch=worktree.branch if worktree is not None else task.id,
    )
    others = conflict.get("others", [])[:MOST_OTHERS]
    if others:
        sides = together([_side(call, entry, other) for other in others], "\n")
        yield together(
            [say("The other side, on {target} since commit {base}:", target=entry.target, base=_base(entry)), sides],
            "\n",
        )
    else:
        yield say("The other side is on {target} at commit {base}.", target=entry.target, base=_base(entry))
    yield RESOLVE


def _within(call: Call, task: Task, conflict: dict[str, Any]) -> Iterator[Worded]:
    """Both sides are parts of the same work: the target has neither."""
    names = [str(conflict.get("work") or ""), *(str(each.get("task_id")) for each in conflict.get("others", ()))]
    found = {each.id: each for each in call.tx.tasks.find_all(sorted({*names})) if each.project_id == task.project_id}
    sides = [_subtask(found[each]) for each in names if each in found]
    yield together([constant("Both sides are parts of this work:"), *sides], "\n")
    yield RESOLVE


def _side(call: Call, entry: Entry, other: dict[str, Any]) -> Worded:
    task_id = other.get("task_id")
    task = call.tx.tasks.find(str(task_id)) if task_id else None
    commit = str(other.get("commit") or "")[:10]
    if task is not None and task.project_id == entry.project_id:
        return say(
            "- task {task_id}, {title} (commit {commit})", task_id=task.id, title=quoted(task.title), commit=commit
        )
    return say("- commit {commit}: {subject}", commit=commit, subject=quoted(str(other.get("subject") or "")[:BRIEF]))


def _of_failure(entry: Entry) -> Iterator[Worded]:
    yield say(
        "The required checks failed when the merge queue merged this work, alone, onto {target} (commit {base}).",
        target=entry.target,
        base=_base(entry),
    )
    for each in entry.evidence:
        if each["outcome"] == CheckOutcome.FAILED.value:
            yield _evidence(each)
    yield say(
        "{target} has been merged into your worktree. Find out why the check fails there and fix it, then report "
        "completion. Do not weaken the check.",
        target=entry.target,
    )


def _evidence(each: CheckEvidence) -> Worded:
    output = each["output"][-LONGEST_OUTPUT:].strip()
    code = each["exit_code"]
    head = (
        say("Check: {check}", check=one_line(each["check"]))
        if code is None
        else say("Check: {check} (exit code {code})", check=one_line(each["check"]), code=code)
    )
    return together([head, constant(marked(output))], "\n") if output else head


def _files(conflict: dict[str, Any]) -> str:
    names = [each if _PLAIN_NAME.fullmatch(each) else quoted(each) for each in map(str, conflict.get("files", ()))]
    more = f" (+{len(names) - MOST_FILES})" if len(names) > MOST_FILES else ""
    return ", ".join(names[:MOST_FILES]) + more


def _base(entry: Entry) -> str:
    return (entry.base_commit or "")[:10]

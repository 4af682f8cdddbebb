"""Pull requests of tasks' work: what a Coordinator is told to open, what its report changes, and when it looks again.

The worktree job that opens a pull request is its record: its answer has the address and the last known state. While
its work is open, the same job is given to its Coordinator again, to look. Until it is merged, the work stays open: its
branch and directory stay, and what people can do with it stays possible.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from toryo.domain.fast_dataclasses import replace
from toryo.domain.projects import Project, PullRequests
from toryo.domain.tasks import CheckOutcome, Task
from toryo.domain.texts import one_line
from toryo.domain.wording import Worded, constant, say
from toryo.domain.worktrees import LOOK_SELDOM, UNSEEN_AFTER, Kind, Worktree, WorktreeJob, look_after
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.tasks import requested_changes
from toryo.operations.translations import translate
from toryo.operations.worktrees import worktree_locks

PULL_REQUESTS = "pull_requests"
LONGEST_TITLE = 200
LONGEST_SUMMARY = 10_000
LONGEST_CHECK = 300
MOST_LINES = 50
"""Checks, and parts of the work, that the text of a pull request names."""


def kind_of_merge(project: Project) -> Kind:
    """What a person's order to merge does in this project."""
    return Kind.PULL_REQUEST if project.settings.pull_requests is PullRequests.OPEN else Kind.MERGE


def words(call: Call, project: Project, task: Task, found: Sequence[Worktree], message: str | None) -> dict[str, Any]:
    """Title and text of a pull request, in the language of the project; and the agents that have done the work."""
    language = project.settings.language
    parts = call.tx.tasks.find_all(sorted({each.task_id for each in found}))
    text = "\n\n".join(translate(each, language) for each in _text(call, task, parts, message))
    authors = sorted({each.assignee_id for each in (task, *parts) if each.assignee_id is not None})
    heads = {each.task_id: each.head_commit for each in found}
    title = one_line(task.title)[:LONGEST_TITLE] or task.id
    return {
        "title": title,
        "body": text,
        "authors": authors,
        "heads": heads,
        "asked_for": task.id,
        "forbid_secrets": _forbids_secrets(call, project, (task, *parts)),
    }


def _forbids_secrets(call: Call, project: Project, tasks: Sequence[Task]) -> bool:
    """Whether a check of the project, or of one of the tasks, does so: every commit is searched before it is pushed."""
    checks = [*project.settings.required_checks]
    checks += [check for each in tasks if each.has_acceptance for check in call.tx.tasks.details(each.id).acceptance]
    return any(check.get("diff", {}).get("forbid_secrets") for check in checks)


def _text(call: Call, task: Task, parts: Sequence[Task], message: str | None) -> Iterator[Worded]:
    if message is not None:
        yield constant(message)
    summary = call.tx.tasks.details(task.id).summary
    if summary:
        yield constant(summary[:LONGEST_SUMMARY])
    check = call.tx.launches.check(task.check_id) if task.check_id is not None else None
    passed = [each for each in (check.evidence or () if check is not None else ()) if _passed(each)]
    if passed:
        named = "\n".join(f"- {_code(str(each['check']))}" for each in passed[:MOST_LINES])
        yield say("Checks that passed:\n\n{checks}", checks=named)
    others = [each for each in parts if each.id != task.id][:MOST_LINES]
    if others:
        named = "\n".join(f"- {one_line(each.title)[:LONGEST_TITLE]} ({each.id})" for each in others)
        yield say("With the work of its subtasks:\n\n{tasks}", tasks=named)
    replaced = _replaced(call, {task.id, *(each.id for each in parts)})
    if replaced:
        named = "\n".join(f"- {each}" for each in replaced[:MOST_LINES])
        yield say(
            "It contains the work of these pull requests, which can be closed:\n\n{pull_requests}", pull_requests=named
        )
    yield say("Toryo task: {task_id}", task_id=task.id)


def _replaced(call: Call, task_ids: set[str]) -> list[str]:
    """The open pull requests of the work that these tasks have changed on request: that has a branch of its own."""
    changed = requested_changes.about(call, task_ids) - task_ids
    opened = call.tx.worktrees.pull_requests(changed).values() if changed else ()
    return sorted({str(job.pull_request["url"]) for job in opened if job.pull_request is not None and job.is_open})


def _passed(evidence: dict[str, Any]) -> bool:
    return CheckOutcome(evidence["outcome"]).counts


def _code(text: str) -> str:
    """As code in Markdown, whatever is in it."""
    line = one_line(text)[:LONGEST_CHECK]
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`"


# --- what a report changes --------------------------------------------------------------------------------------------


def known(job: WorktreeJob) -> dict[str, Any]:
    """What stays in the answer of a job whatever else is told."""
    return {"pull_request": job.pull_request} if job.pull_request is not None else {}


def after_report(call: Call, before: WorktreeJob, after: WorktreeJob, told: dict[str, Any] | None) -> WorktreeJob:
    """The job after a report. `told`: what was found out about the pull request; None: nothing this time."""
    options = dict(before.options or {})
    in_vain = options.pop("looks_in_vain", 0)
    if before.looks and not after.done:
        options["looks_in_vain"] = in_vain + 1
    if told is None:
        after = replace(after, options=options, answer={**(after.answer or {}), **known(before)})
        if before.looks:
            options.setdefault("unseen_since", call.now)
            trouble = (after.answer or {}).get("trouble")
            if is_news(call, before, after, trouble):
                options["looks_told"] = trouble
        return after
    options.pop("unseen_since", None)
    after = replace(after, options=options, answer={**(after.answer or {}), "pull_request": told})
    if told["state"] == "open":
        looks_told = options.pop("looks_told", None)
        if looks_told is not None or not before.looks:
            _clear(call, before, looks_told)
    elif before.looks and is_news(call, before, after, trouble := (after.answer or {}).get("trouble")):
        options["looks_told"] = trouble
    old = before.pull_request or {}
    if (old.get("url"), old.get("state")) != (told["url"], told["state"]) and told["state"] != "merged":
        task = call.tx.tasks.find(before.task_id)
        event = "worktree.pull_request_opened" if told["state"] == "open" else "worktree.pull_request_closed"
        call.event(event, task=task, data={"url": told["url"], "number": told["number"]})
    return after


def is_news(call: Call, before: WorktreeJob, after: WorktreeJob, trouble: str | None) -> bool:
    """Whether people are told what prevented it. What a look has found is told once; a look without an answer is
    repeated before that."""
    if not before.looks or trouble is None:
        return True
    if before.is_closed and after.is_closed:
        return False
    worktree = call.tx.worktrees.find(before.task_id)
    known_trouble = worktree.trouble if worktree is not None else None
    since = (after.options or {}).get("unseen_since")
    if since is not None:
        next_look = call.now + look_after(0, after.looks_in_vain)
        return next_look - since > UNSEEN_AFTER and known_trouble is None
    return trouble != known_trouble


def _clear(call: Call, job: WorktreeJob, trouble: str | None) -> None:
    """What prevented it before does so no longer. Without words, whatever it was: the work was kept and pushed now."""
    for worktree in call.tx.worktrees.of(job.tasks):
        if worktree.open and worktree.trouble is not None and trouble in (None, worktree.trouble):
            call.tx.worktrees.put(replace(worktree, trouble=None, updated_at=call.now))


# --- looking again ----------------------------------------------------------------------------------------------------


def look(call: Call) -> int:
    """Has Coordinators look again at the pull requests of open work; how many. At closed ones, too: people open them
    again. Of merged ones, those are left whose merge could not be brought here."""
    work = [each.task_id for each in call.tx.worktrees.open()]  # what has no changes may contain those of its subtasks
    found = {job.id: job for job in call.tx.worktrees.pull_requests(work).values()} if work else {}
    others = Counter(job.coordinator_id for job in found.values() if not job.is_closed)
    due = [job for job in found.values() if _is_due(call, job, others[job.coordinator_id])]
    return sum(each_fenced(call, PULL_REQUESTS, due, partial(_look, call)))


def _is_due(call: Call, job: WorktreeJob, others: int) -> bool:
    wait = LOOK_SELDOM if job.is_closed else look_after(others, job.looks_in_vain)
    return job.finished_at is not None and call.now - job.finished_at >= wait


def _look(call: Call, job: WorktreeJob) -> bool:
    worktree = call.tx.worktrees.find(job.task_id)
    if worktree is None or worktree.coordinator_id != job.coordinator_id or worktree.created_at > job.created_at:
        return False  # somebody has started again from the base: this is not the work of that pull request
    if worktree_locks.is_away(call, job.coordinator_id):
        return False
    if worktree_locks.at_work(call, job.tasks) is not None or worktree_locks.moving_job(call, worktree) is not None:
        return False  # if it was merged, the directory goes
    found = call.tx.worktrees.of(job.tasks)
    restarted = sorted(each.task_id for each in found if each.created_at > job.created_at)
    if not any(each.open and each.task_id not in restarted for each in found):
        return False
    options = {**(job.options or {}), "look": job.pull_request, "restarted": restarted}
    call.tx.worktrees.save_job(
        job, replace(job, options=options, taken_at=None, finished_at=None, done=None, answer=known(job))
    )
    call.tx.hint(WORK)
    return True

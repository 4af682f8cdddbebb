"""Reviews that a success must pass: by another agent, never the author, or by a person. Pure.

A review is an acceptance check that no program runs. `operations/tasks/review_rounds.py` asks for it and takes what the
reviewer says; until then the task waits, as for the answer to a question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import TypedDict

from toryo.deeds import deed
from toryo.domain.agents import COMMAND, Agent, Role
from toryo.domain.errors import Code, Refusal
from toryo.domain.tasks import AcceptanceCheck, Checks, Task
from toryo.domain.wording import say

ROUNDS = 3
"""How often an agent may request changes before a person decides, if the check does not say."""
MOST_ROUNDS = 20
BEGINNING = "review by "
"""Of the name of a review among the results of checks."""
LONGEST_RUBRIC = 4_000
MOST_FINDINGS = 100
LONGEST_MESSAGE = 2_000
LONGEST_PATH = 1_000
LONGEST_TOLD = 9_000
"""Characters of what a review says that are handed to the author."""


class Severity(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Verdict(StrEnum):
    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"


class Finding(TypedDict):
    """What a reviewer found; `line` and `file` are null where it is not about one place."""

    file: str | None
    line: int | None
    severity: str
    message: str


def run_by_program(checks: Iterable[AcceptanceCheck]) -> list[AcceptanceCheck]:
    """The checks that a Coordinator runs: all but reviews."""
    return [check for check in checks if "review" not in check]


def reviews_among(checks: Iterable[AcceptanceCheck]) -> list[AcceptanceCheck]:
    return [check for check in checks if "review" in check]


def key_of(task_id: str, check: AcceptanceCheck) -> str:
    """The same for every round of one review of one task, and for nothing else."""
    content = json.dumps([task_id, check["review"]], sort_keys=True)
    return f"review:{hashlib.sha256(content.encode()).hexdigest()[:25]}"


def name_of(reviewer: str | None) -> str:
    """As evidence and failures name it."""
    return f"{BEGINNING}{reviewer if reviewer is not None else 'a person'}"


def rounds_of(check: AcceptanceCheck) -> int:
    return check["review"].get("rounds", ROUNDS)


def review_open(task: Task) -> bool:
    """Whether its agent has reported success, and a reviewer has not decided yet."""
    return task.checks is Checks.IN_REVIEW and task.open_questions > 0


class Unable(StrEnum):
    """Why somebody cannot be started for a review; `instructions.TEXTS` says each in words (`review.UNABLE`)."""

    UNKNOWN = "unknown"
    AUTHOR = "author"
    NOT_WORKER = "not_worker"
    NOT_MEMBER = "not_member"
    INACTIVE = "inactive"
    NO_PROVIDER = "no_provider"
    RUNS_COMMANDS = "runs_commands"
    """It does what its task's command says, and a review has none."""


def unable(agent: Agent | None, task: Task, members: Collection[str]) -> Unable | None:
    """Why it cannot be started for a review of this task; None: it can. Reviewers are active workers of the project
    that Coordinators start, and not the author."""
    if agent is None:
        return Unable.UNKNOWN
    table = (
        (agent.id == task.assignee_id, Unable.AUTHOR),
        (agent.human or agent.role is not Role.WORKER, Unable.NOT_WORKER),
        (agent.id not in members, Unable.NOT_MEMBER),
        (not agent.active, Unable.INACTIVE),
        (not agent.managed, Unable.NO_PROVIDER),
        (agent.provider == COMMAND, Unable.RUNS_COMMANDS),
    )
    return next((why for applies, why in table if applies), None)


def can_review(agent: Agent | None, task: Task, members: Collection[str]) -> bool:
    return unable(agent, task, members) is None


def refuse_contradiction(verdict: Verdict, findings: Sequence[Finding], summary: str | None) -> None:
    """Raises Refusal for a verdict that says something else than its findings, or gives the author nothing to do."""
    if verdict is Verdict.APPROVE and any(each["severity"] == Severity.HIGH for each in findings):
        raise Refusal(
            Code.VALIDATION_ERROR,
            "A finding of high severity does not go with approve.",
            "Pass verdict request_changes, or a lower severity.",
        )
    if verdict is Verdict.REQUEST_CHANGES and not findings and not (summary or "").strip():
        raise Refusal(
            Code.VALIDATION_ERROR,
            "Changes were requested without saying which.",
            "Pass findings, each with a message; file and line where there are any.",
        )


def review_in_words(findings: Sequence[Finding], summary: str | None) -> str:
    """What the review says, a line per finding, the gravest first; cut to `LONGEST_TOLD`."""
    order = list(Severity)
    lines = [_line(each) for each in sorted(findings, key=lambda each: order.index(Severity(each["severity"])))]
    text = "\n".join([*([summary.strip()] if summary and summary.strip() else []), *lines])
    return text if len(text) <= LONGEST_TOLD else f"{text[: LONGEST_TOLD - 1]}…"


def _line(found: Finding) -> str:
    place = ":".join(str(each) for each in (found["file"], found["line"]) if each is not None)
    return f"[{found['severity']}] {place + ': ' if place else ''}{found['message'].strip()}"


def nothing_requested() -> Refusal:
    return Refusal(
        Code.VALIDATION_ERROR,
        "Changes were requested without saying which.",
        "Write what has to change.",
    )


def refuse_reviewer(agent: Agent | None, reviewed: Task, members: Collection[str], question_id: str | None) -> None:
    """Raises Refusal for somebody who cannot be given the task of a review."""
    if agent is None or can_review(agent, reviewed, members):
        return
    raise Refusal(
        Code.VALIDATION_ERROR,
        say("{agent_id} cannot review the work of {author}.", agent_id=agent.id, author=reviewed.assignee_id)
        if agent.id != reviewed.assignee_id
        else say("{agent_id} is the author, and nobody reviews their own work.", agent_id=agent.id),
        say(
            "Choose another worker of the project that has a provider other than command, or decide yourself"
            "{deed:: …}.",
            deed=deed("decide", question_id=question_id),
        )
        if question_id is not None
        else "Choose another worker of the project that has a provider other than command.",
    )


def over(task: Task) -> Refusal:
    """Why the task of a review is not begun again."""
    return Refusal(
        Code.NOT_NOW,
        say("Task {task_id} is a review that is no longer needed.", task_id=task.id),
        say("See what has become of the work{deed:: …}.", deed=deed("show", task_id=task.review_of)),
        task_id=task.id,
    )


def refusal_of_checks(task: Task) -> Refusal:
    """Why the task of a review gets no acceptance checks: it ends with its verdict, whatever they would find."""
    return Refusal(
        Code.VALIDATION_ERROR,
        say("Task {task_id} is a review, and a review has no acceptance checks.", task_id=task.id),
        say("Edit the task whose work is reviewed{deed:: …}.", deed=deed("edit", task_id=task.review_of)),
        task_id=task.id,
    )


def not_withdrawn(question_id: str, task_id: str) -> Refusal:
    return Refusal(
        Code.NOT_NOW,
        say("{question_id} is a review, and a review cannot be withdrawn.", question_id=question_id),
        say(
            "Approve it or request changes. To complete the task without it{deed:: …}.",
            deed=deed("confirm", task_id=task_id),
        ),
        question_id=question_id,
        task_id=task_id,
    )

"""Carries out how acceptance checks end: what programs found, then the reviews that success must pass, one after the
other. With the last of them the task is completed; its agent is started again only where changes are requested.

The rules are in `domain/review_checks.py`. A review is a question that the task waits for: people answer it
(`question_rest.py`), or an agent does in a task of its own (`sessions/review_report.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from toryo import check_names
from toryo.domain import ids, review_checks
from toryo.domain.agents import SYSTEM
from toryo.domain.creation_rules import Draft
from toryo.domain.errors import Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.moves import Actor
from toryo.domain.questions import CANNOT_RUN, Question, State, likeness
from toryo.domain.tasks import (
    AcceptanceCheck,
    CheckEvidence,
    CheckFailure,
    CheckOutcome,
    Checks,
    Status,
    Task,
)
from toryo.domain.texts import one_line
from toryo.domain.times import SECOND
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.fault_isolation import attempt
from toryo.operations.calls.fields import LONGEST_TITLE
from toryo.operations.tasks import due_checks, mutations, questions, subtask_work
from toryo.operations.translations import words

_TOLD_OF_ERRORS = 2_000
"""Characters of what checks that cannot run have printed."""
_TOLD = 2_000
"""Characters of the author's summary within the description of a review."""


def programs_ended(
    call: Call,
    task: Task,
    failures: Sequence[CheckFailure],
    flaky: Sequence[str] = (),
    errors: Sequence[CheckEvidence] = (),
) -> None:
    """The checks that programs run have ended: the reviews follow. `flaky`: those that passed when they ran again. If
    the reviews have approved the work before, it is done: these were checks that the project requires since then.
    `errors`: those that cannot run. If nothing else is wrong, a person is asked, and the agent leaves meanwhile.
    """
    if errors and not failures:
        if task.in_progress and call.tree_state(task).given_to_agent(task):
            _ask_about(call, task, errors)
            return
        failures = [{"check": each["check"], "message": each["output"]} for each in errors]
    if not failures and task.in_progress and _ask_next(call, task):
        return
    after = settle(call, task, failures, flaky)
    if not failures and task.in_progress and _passed(call, task):
        complete(call, after)


def settle(call: Call, task: Task, failures: Sequence[CheckFailure], flaky: Sequence[str] = ()) -> Task:
    """The acceptance checks of a task have ended (or a person has judged them)."""
    state = Checks.FAILED if failures else Checks.PASSED
    after = call.tx.tasks.save(task, replace(task, checks=state, checked_at=call.now))
    call.tx.tasks.save_details(task.id, check_failures=tuple(failures))
    kind = "task.checks_failed" if failures else "task.checks_passed"
    more = {"flaky": list(flaky)} if flaky else {}
    call.event(kind, task=task, fact=True, data={"failures": list(failures), **more})
    call.tx.hint(WORK, f"check:{task.id}", f"task:{task.root_id}")
    return after


def after_answer(call: Call, before: Question, after: Question) -> None:
    """A review was answered: the next one follows, or the task goes on. Where it is about checks that cannot run, all
    tasks of the project that wait for the same are tried again."""
    _taken(call, before, after)
    if before.about_checks and after.approved:
        for other in call.tx.questions.open_alike(after.project_id, after.alike):
            same = replace(other, state=after.state, choices=after.choices)
            _taken(call, other, replace(same, ended_by=after.ended_by, ended_at=after.ended_at))


def _taken(call: Call, before: Question, after: Question) -> None:
    questions.end(call, before, after)
    if before.review_task_id is not None and after.ended_by != _reviewer(call, before):
        mutations.cancel_reviews(call, before.task_id)
    task = call.tx.tasks.find(before.task_id)
    assert task is not None
    if task.checks is not Checks.IN_REVIEW or task.check_id != before.check_id:
        return
    if before.about_checks:
        _after_errors(call, task, after)
        return
    _note(call, task, after)
    if not after.approved:
        settle(call, task, [_failure(call, after)])
    elif not _ask_next(call, task) and not _check_again(call, task):
        complete(call, settle(call, task, (), _flaky(call, task)))


def _ask_about(call: Call, task: Task, errors: Sequence[CheckEvidence]) -> None:
    """A person corrects what the checks need, and has them run again."""
    language = call.project(task.project_id).settings.language
    names = [each["check"] for each in errors]
    output = "\n".join(each["output"].strip() for each in errors if each["output"])[-_TOLD_OF_ERRORS:]
    told = words("checks.cannot_run", language, title=task.title, failed=due_checks.names_of(errors), result=output)
    question = Question(
        id=call.new_id(ids.QUESTION),
        project_id=task.project_id,
        task_id=task.id,
        agent_id=task.assignee_id or "",
        question=told,
        options=(words("checks.run_again", language), words("checks.return", language)),
        multiple=False,
        free_text=True,
        fallback=None,
        deadline=None,
        to_person=None,
        alike=f"{CANNOT_RUN}{likeness('', names)}",
        state=State.OPEN,
        created_at=call.now,
        check_id=task.check_id,
    )
    _wait_for(call, task, question)


def _wait_for(call: Call, task: Task, question: Question) -> None:
    """The task waits for what a person or a reviewer says, and its agent may review meanwhile."""
    task = call.tx.tasks.save(task, replace(task, checks=Checks.IN_REVIEW))
    questions.ask(call, task, question)
    call.tx.hint(WORK, f"check:{task.id}", f"task:{task.root_id}")
    mutations.start_next_review(call, task.project_id, task.assignee_id)
    mutations.go_on(call, (), freed=[task])


def _after_errors(call: Call, task: Task, after: Question) -> None:
    if not after.approved:
        check = call.tx.launches.check(task.check_id or "")
        found = check.evidence or () if check is not None else ()
        errors = [each["check"] for each in found if each["outcome"] == CheckOutcome.ERROR]
        settle(call, task, [{"check": each, "message": after.written or ""} for each in errors])
        return
    _run_again(call, task)


def complete(call: Call, task: Task) -> None:
    """Completes a task whose agent has reported success and left. Where something else prevents it by now, the agent is
    started again and told; what it does then has to pass the checks again."""
    system = Actor(SYSTEM, everything=True, guard=True)
    if subtask_work.due(call, call.tree_state(task), task) is not None:  # a subtask ended after what was checked
        call.tx.tasks.save(task, replace(task, checks=Checks.NONE))
        return
    move = partial(mutations.move, call, call.tree_state(task), task, Status.COMPLETED, actor=system)
    if isinstance(attempt(call, move), Refusal):
        call.tx.tasks.save(task, replace(task, checks=Checks.NONE))


def withdraw(call: Call, task: Task) -> None:
    """The open review of a task that a person judges as a whole."""
    questions.withdraw_all(call, task, "judged_by_person")
    mutations.cancel_reviews(call, task.id)


# --- asking ----------------------------------------------------------------------------------------------------------


def _ask_next(call: Call, task: Task) -> bool:
    """Asks for the first review that is not passed yet; False: there is none."""
    tree_state = call.tree_state(task)
    wanted = due_checks.reviews(call, tree_state, task)
    if not wanted:
        return False
    before = [each for each in call.tx.questions.of_task(task.id) if each.review]
    passed = _passed(call, task)
    for check in wanted:
        key = review_checks.key_of(task.id, check)
        if key not in passed:
            _ask(call, task, check, key, [each for each in before if each.alike == key])
            return True
    return False


def _passed(call: Call, task: Task) -> set[str]:
    """The reviews that have approved what was reported last."""
    of_task = call.tx.questions.of_task(task.id)
    return {each.alike for each in of_task if each.review and each.check_id == task.check_id and each.approved}


def _check_again(call: Call, task: Task) -> bool:
    """Whether programs check the work once more: the project requires a check by now that was not run before the
    review. Its author does not come back for that.
    """
    check = call.tx.launches.check(task.check_id or "")
    due = due_checks.run_by_program(call, call.tree_state(task), task)
    if check is None or call.tx.launches.find(check.launch_id) is None:
        return False
    evidence = [each["check"] for each in check.evidence or ()]
    run = {each for each in evidence if not each.startswith(review_checks.BEGINNING)}
    known = run or check.taken_at is None  # older Coordinators do not tell what has passed
    if not known or all(check_names.name_of(each) in run for each in due):
        return False
    _run_again(call, task)
    return True


def _run_again(call: Call, task: Task) -> None:
    """The checks of the last report, by who has the files. Its author does not come back for that."""
    check = call.tx.launches.check(task.check_id or "")
    assert check is not None
    again = replace(check, created_at=call.now, taken_at=None, finished_at=None)
    call.tx.launches.save_check(check, again)
    task = call.tx.tasks.save(task, replace(task, checks=Checks.RUNNING))
    call.event("check.started", task=task, data={"check_id": check.id})
    call.tx.hint(WORK, "checks", f"task:{task.root_id}")


def _ask(call: Call, task: Task, check: AcceptanceCheck, key: str, before: Sequence[Question]) -> None:
    project = call.project(task.project_id)
    language, terms = project.settings.language, check["review"]
    wanted = call.tx.agents.find(terms["by"]) if "by" in terms else None
    members = call.tx.agents.members_among(project.id, [wanted.id]) if wanted is not None else ()
    rejected = sum(each.state is State.ANSWERED and each.review_task_id is not None for each in before)
    unable = review_checks.unable(wanted, task, members)
    may_reject = rejected < review_checks.rounds_of(check)
    review, why = None, ""
    if wanted is not None and unable is None and may_reject:
        review = _file(call, task, terms.get("rubric"), wanted.id, before)
    elif "by" in terms and (wanted is None or not wanted.human):
        key_of_why = f"review.{unable}" if unable is not None and may_reject else "review.rounds_over"
        name = wanted.name if wanted is not None else terms["by"]
        why = words(key_of_why, language, reviewer=name, rounds=rejected)
    parts = (words("review.question", language, title=task.title), terms.get("rubric") or "", why)
    question = Question(
        id=call.new_id(ids.QUESTION),
        project_id=project.id,
        task_id=task.id,
        agent_id=task.assignee_id or "",
        question="\n".join(filter(None, parts)),
        options=(words("review.approve", language), words("review.request_changes", language)),
        multiple=False,
        free_text=True,
        fallback=None,
        deadline=None,
        to_person=wanted.id if wanted is not None and wanted.human else None,
        alike=key,
        state=State.OPEN,
        created_at=call.now,
        check_id=task.check_id,
        review_task_id=review.id if review is not None else None,
    )
    _wait_for(call, task, question)
    if review is not None:
        mutations.start_review(call, review)


def _file(call: Call, task: Task, rubric: str | None, reviewer: str, before: Sequence[Question]) -> Task:
    """The task in which an agent reviews the work of another one."""
    project = call.project(task.project_id)
    language = project.settings.language
    details = call.tx.tasks.details(task.id)
    last = before[-1].written if before else None
    worktree = call.tx.worktrees.find(task.id)
    found = call.tx.agents.find(reviewer)
    way = "" if found is not None and found.runs_commands else ".no_shell"
    parts = (
        words(f"review.description{way}", language, title=task.title, author=task.assignee_id, task_id=task.id),
        words(f"review.changes{way}", language, base=worktree.base_commit)
        if worktree is not None and worktree.open and worktree.base_commit
        else "",
        words("review.rubric", language, rubric=rubric) if rubric else "",
        words("review.task", language, description=details.description) if details.description else "",
        words("review.summary", language, summary=details.summary[:_TOLD]) if details.summary else "",
        words("review.last", language, findings=last) if last else "",
    )
    draft = Draft(
        title=words("review.title", language, plain=one_line(task.title))[:LONGEST_TITLE],
        description="\n\n".join(filter(None, parts)),
        priority=task.priority,
        assignee_id=reviewer,
        review_of=task.id,
    )
    with mutations.as_server(call):
        (made,) = mutations.create(call, project, None, [draft], status=Status.TODO).values()
    return made.task


# --- what became of it -----------------------------------------------------------------------------------------------


def _note(call: Call, task: Task, after: Question) -> None:
    """Keeps a review with the evidence of the other checks."""
    check = call.tx.launches.check(task.check_id or "")
    if check is None:
        return
    outcome = CheckOutcome.PASSED if after.approved else CheckOutcome.FAILED
    found: CheckEvidence = {
        "check": _name(call, after),
        "outcome": outcome.value,
        "runs": 1,
        "seconds": ((after.ended_at or call.now) - after.created_at) / SECOND,
        "exit_code": None,
        "output": after.written or "",
    }
    failures = [*(check.failures or ()), *([] if after.approved else [_failure(call, after)])]
    call.tx.launches.save_check(check, replace(check, evidence=[*(check.evidence or ()), found], failures=failures))


def _failure(call: Call, review: Question) -> CheckFailure:
    return {"check": _name(call, review), "message": review.written or ""}


def _flaky(call: Call, task: Task) -> list[str]:
    check = call.tx.launches.check(task.check_id or "")
    evidence = check.evidence or () if check is not None else ()
    return [each["check"] for each in evidence if each["outcome"] == CheckOutcome.FLAKY.value]


def _name(call: Call, question: Question) -> str:
    return review_checks.name_of(question.ended_by or _reviewer(call, question) or question.to_person)


def _reviewer(call: Call, question: Question) -> str | None:
    """The agent that does the review, if one does."""
    review = call.tx.tasks.find(question.review_task_id) if question.review_task_id is not None else None
    return review.assignee_id if review is not None else None

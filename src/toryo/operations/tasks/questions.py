"""Carries out what happens to questions: rows, events, and the task that waits for the answer.

The rules are in `domain/questions.py`. `question_tools.py` has the agents' tool, `question_rest.py` what people do;
`mutations.py` withdraws the questions of a task that does not go on.
"""

from __future__ import annotations

from collections.abc import Sequence

from toryo.domain.agents import SYSTEM
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.projects import Language
from toryo.domain.questions import Question, State, defaulted, in_words, withdrawn
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.operations.calls.call import WORK, Call
from toryo.operations.messaging import notifications
from toryo.operations.translations import words

_SHOWN = 500
"""Characters of a question and of an answer within an instruction; `questions` of the task has them whole."""


def ask(call: Call, task: Task, question: Question) -> None:
    call.tx.questions.add(question)
    ever, still_open = task.questions_ever + 1, task.open_questions + 1
    call.tx.tasks.save(task, replace(task, questions_ever=ever, open_questions=still_open))
    _tell(call, question, "review.requested" if _is_review(question) else "question.asked", task)


def end(call: Call, before: Question, after: Question) -> None:
    """Stores the end of a question. The agent is started again once none of its task's is open; one that still runs is
    notified.
    """
    call.tx.questions.save(before, after)
    task = call.tx.tasks.find(before.task_id)
    assert task is not None
    task = call.tx.tasks.save(task, replace(task, open_questions=max(0, task.open_questions - 1)))
    _tell(call, after, _review_ended(after) if _is_review(after) else f"question.{after.state.value}", task)
    call.tx.hint(WORK, f"task:{task.root_id}", f"project:{task.project_id}")
    session = call.tx.sessions.live_of(task.project_id, after.agent_id).get(Purpose.TASK)
    if after.review or session is None or session.task_id != task.id:
        return
    if task.in_progress and call.actor.id != after.agent_id:
        language = _language(call, task.project_id)
        told = words("answers", language, answers=_in_a_sentence(call, after, language))
        notifications.notify(call, task, session.agent_id, session.id, "message", told)


def _is_review(question: Question) -> bool:
    return question.review and not question.about_checks


def _review_ended(after: Question) -> str:
    if after.state is State.WITHDRAWN:
        return "review.withdrawn"
    return "review.approved" if after.approved else "review.changes_requested"


def take_default(call: Call, question: Question) -> None:
    end(call, question, defaulted(question, call.now, SYSTEM))


def withdraw(call: Call, question: Question, reason: str | None) -> Question:
    after = withdrawn(question, call.actor.id, reason, call.now)
    end(call, question, after)
    return after


def reviewed_by(call: Call, review: Task) -> Question | None:
    """The open review that this task is for."""
    asked = call.tx.questions.of_task(review.review_of or "")
    return next((each for each in asked if each.open and each.review_task_id == review.id), None)


def left_to_people(call: Call, review: Task) -> None:
    """The task of a review was closed, or put off, without one: a person reviews the work."""
    for question in call.tx.questions.of_task(review.review_of or ""):
        if question.open and question.review_task_id == review.id:
            project = call.tx.projects.find(review.project_id)
            language = project.settings.language if project is not None else Language.ENGLISH
            why = words("review.not_done", language, reviewer=review.assignee_id, task_id=review.id)
            after = replace(question, review_task_id=None, question=f"{question.question}\n{why}")
            call.tx.questions.save(question, after)
            task = call.tx.tasks.find(question.task_id)
            assert task is not None
            _tell(call, after, "review.requested", task)
            call.tx.hint(WORK, f"task:{task.root_id}", f"project:{task.project_id}")


def withdraw_all(call: Call, task: Task, reason: str) -> None:
    """Of a task whose agent no longer waits for the answers."""
    for question in call.tx.questions.of_task(task.id):
        if question.open:
            withdraw(call, question, reason)


def withdraw_in(call: Call, project_id: str, reason: str) -> None:
    """All but reviews: these are decided when the project goes on."""
    for question in call.tx.questions.all_open():
        if question.project_id == project_id and not question.review:
            withdraw(call, question, reason)


def told_since(call: Call, task: Task, since: Millis, language: Language) -> str:
    """What became of the questions of a task that ended since then, as a sentence; empty if none did."""
    ended = [
        each
        for each in call.tx.questions.of_task(task.id)
        if each.ended_at is not None and each.ended_at >= since and not each.review
    ]
    return words("answers", language, answers=_all_in_a_sentence(call, ended, language)) if ended else ""


def _all_in_a_sentence(call: Call, ended: Sequence[Question], language: Language) -> str:
    return "; ".join(_in_a_sentence(call, each, language) for each in ended)


def _in_a_sentence(call: Call, question: Question, language: Language) -> str:
    person = call.tx.agents.find(question.ended_by or "")
    return words(
        f"answers.{question.state.value}",
        language,
        question=question.question[:_SHOWN],
        question_id=question.id,
        answer=in_words(question)[:_SHOWN],
        person=person.name if person is not None else question.ended_by,
    )


def _language(call: Call, project_id: str) -> Language:
    project = call.tx.projects.find(project_id)
    return project.settings.language if project is not None else Language.ENGLISH


def _tell(call: Call, question: Question, kind: str, task: Task) -> None:
    data: dict[str, object] = {"question_id": question.id, "question": question.question[:_SHOWN]}
    if question.state in (State.ANSWERED, State.DEFAULTED):
        data["answer"] = in_words(question)[:_SHOWN]
    if question.reason is not None:
        data["reason"] = question.reason
    call.event(kind, task=task, agent_id=question.agent_id, fact=True, data=data)

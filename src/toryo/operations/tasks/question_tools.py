"""How an agent asks a person about its main task. What people do about it is in `question_rest.py`.

While a question is open the task waits: its agent leaves, and is started again with the answer.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from toryo.domain import ids, people, questions
from toryo.domain.agents import Agent, may_be_asked
from toryo.domain.errors import Code, Refusal
from toryo.domain.questions import Question, State
from toryo.domain.tasks import Task
from toryo.domain.times import MINUTE
from toryo.domain.wording import say
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Parameters, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, listed_for
from toryo.operations.calls.results import Said
from toryo.operations.tasks import questions as carried_out
from toryo.operations.translations import words

Option = Annotated[str, Field(min_length=1, max_length=questions.LONGEST_OPTION, pattern=r"\S")]


class AskPerson(Parameters):
    question: Lines = Field(
        min_length=1,
        max_length=questions.LONGEST_QUESTION,
        pattern=r"\S",
        description="One question, with what they need to know to answer it.",
        json_schema_extra=PLAIN,
    )
    options: list[Option] = Field(
        [], max_length=questions.MOST_OPTIONS, description="To choose from.", json_schema_extra=PLAIN
    )
    multiple: bool = Field(False, description="Whether several options can be chosen.", json_schema_extra=PLAIN)
    free_text: bool = Field(
        True, description="Whether they may write an answer.", json_schema_extra=listed_for(Audience.NONE)
    )
    default: str | None = Field(
        None,
        min_length=1,
        max_length=questions.LONGEST_ANSWER,
        description="For the deadline.",
        json_schema_extra=listed_for(Audience.NONE),
    )
    deadline_minutes: int | None = Field(
        None,
        ge=1,
        lt=questions.LONGEST_DEADLINE,
        description="When an answer is needed, in minutes from now.",
        json_schema_extra=listed_for(Audience.NONE),
    )
    to: Id | None = Field(
        None,
        description="A person; by default, who is responsible for you.",
        json_schema_extra=listed_for(Audience.NONE),
    )
    ask_again: bool = Field(
        False, description="Ask although it was answered before.", json_schema_extra=listed_for(Audience.NONE)
    )


class Asked(Said):
    """`question_id` is null where nobody was asked, because a person has answered the same before."""

    question_id: str | None
    answered_before: schemas.ToldQuestion | None


@operation(
    "ask_person",
    shown_to=Audience.WORKER | Audience.MANAGER,
    grant=Grant.TASK_SESSION,
    parameters=AskPerson,
    leads=True,
)
def ask_person(call: Call, wanted: AskPerson) -> Asked:
    """Ask a person what you cannot find out."""
    task = call.task(call.session.task_id or "")
    project = call.project(call.session.project_id)
    question = _question(call, task, wanted)
    before = call.tx.questions.answered_alike(project.id, question.alike)
    if before is not None and not wanted.ask_again:
        mine = before.task_id == task.id and (before.ended_at or 0) >= call.session.created_at
        told = words("asked.answered" if mine else "asked.before", project.settings.language)
        return {
            "success": True,
            "question_id": None,
            "answered_before": rendering.told_question(before),
            "message": told,
        }
    of_task = call.tx.questions.of_task(task.id) if task.questions_ever else []
    same = next((each for each in of_task if each.open and each.alike == question.alike), None)
    if same is None:
        _refuse_too_many(task)
        carried_out.ask(call, task, question)
    return {
        "success": True,
        "question_id": (same or question).id,
        "answered_before": rendering.told_question(before) if before is not None else None,
        "message": words("asked", project.settings.language),
    }


def _question(call: Call, task: Task, wanted: AskPerson) -> Question:
    options = tuple(option.strip() for option in wanted.options)
    default = wanted.default.strip() if wanted.default is not None else None
    questions.refuse_unanswerable(
        options, multiple=wanted.multiple, free_text=wanted.free_text, fallback=default or None
    )
    minutes = wanted.deadline_minutes
    return Question(
        id=call.new_id(ids.QUESTION),
        project_id=task.project_id,
        task_id=task.id,
        agent_id=call.agent.id,
        question=wanted.question.strip(),
        options=options,
        multiple=wanted.multiple,
        free_text=wanted.free_text,
        fallback=default or None,
        deadline=call.now + minutes * MINUTE if minutes is not None else None,
        to_person=_person(call, task, wanted.to).id if wanted.to is not None else None,
        alike=questions.likeness(wanted.question, options),
        state=State.OPEN,
        created_at=call.now,
    )


def _person(call: Call, task: Task, person_id: str) -> Agent:
    """Somebody who can answer: an active person of the project who may change things."""
    person = call.known_agent(person_id)
    places = visibility.asked_about(call, person)
    if (
        not may_be_asked(person, lambda _: places is None or task.project_id in places)
        or people.role_of(person, call.tx.people.account(person.id)) == people.VIEWER
    ):
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{person_id} is not a person who can answer in this project.", person_id=person.id),
            "Omit `to`: then who is responsible for you is asked.",
        )
    return person


def _refuse_too_many(task: Task) -> None:
    for count, cap, what in (
        (task.open_questions, questions.MOST_OPEN, "open"),
        (task.questions_ever, questions.MOST_EVER, "in all"),
    ):
        if count >= cap:
            raise Refusal(
                Code.LIMIT_REACHED,
                say(
                    "Task {task_id} has {count} questions {what}; the limit is {cap}.",
                    task_id=task.id,
                    count=count,
                    what=what,
                    cap=cap,
                ),
                "Continue with what you know: call get_next_action.",
                limit=cap,
            )

"""What people do about questions: read them, answer one or all of a task's, withdraw them. REST and CLI.

Everybody who may change things in the project can answer: who was asked may be away. Who was first has answered.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from toryo.deeds import deed
from toryo.domain import questions, review_checks
from toryo.domain.errors import Code, Refusal
from toryo.domain.questions import Answer, Question, State
from toryo.domain.wording import say
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.tasks import questions as carried_out
from toryo.operations.tasks import review_rounds
from toryo.storage.questions import NEWEST

USUAL = 100
"""Questions of a page."""

Choices = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=questions.LONGEST_OPTION)]],
    Field(max_length=questions.MOST_OPTIONS),
]
Written = Annotated[Lines, Field(max_length=questions.LONGEST_ANSWER)]


class ListedQuestions(Page):
    questions: list[schemas.Question]


class Questions(Result):
    questions: list[schemas.Question]


class OneQuestion(Result):
    question: schemas.Question


class ListQuestions(Paged):
    project_id: Id = Field(description="The project.")
    state: Literal["open", "answered", "defaulted", "withdrawn"] | None = Field(None, description="Only in this state.")
    task_id: Id | None = Field(None, description="Only of this task.")


@operation(
    "list_questions",
    grant=Grant.PERSON,
    parameters=ListQuestions,
    route=Route("GET", "/projects/{project_id}/questions"),
    tool=False,
    reads=True,
)
def list_questions(call: Call, wanted: ListQuestions) -> ListedQuestions:
    """What agents have asked people in a project, with the answers: the newest first, 100 a page."""
    project, limit = call.project(wanted.project_id), wanted.limit or USUAL
    task_id = call.task(wanted.task_id).id if wanted.task_id is not None else None
    state = State(wanted.state) if wanted.state is not None else None
    key = key_of(wanted.cursor, int, str)
    before = (key[0], key[1]) if key is not None else NEWEST
    found = call.tx.questions.listed(project.id, task_id, state, before, limit + 1)
    more = cursor_of(found[limit - 1].created_at, found[limit - 1].id) if len(found) > limit else None
    shown = [rendering.question(each, call.now) for each in found[:limit]]
    answer: ListedQuestions = {"success": True, "questions": shown}
    return paged(answer, more)


class ShowQuestion(Parameters):
    question_id: Id = Field(description="The question.")


@operation(
    "show_question",
    grant=Grant.PERSON,
    parameters=ShowQuestion,
    route=Route("GET", "/questions/{question_id}"),
    tool=False,
    reads=True,
)
def show_question(call: Call, wanted: ShowQuestion) -> OneQuestion:
    """One question of an agent, with its answer."""
    return _as_answer(call, _known(call, wanted.question_id))


class AnswerQuestion(Parameters):
    """What answers one question, alone or among those of a task."""

    question_id: Id = Field(description="The question.")
    choices: Choices = Field([], description="The options that are chosen.")
    text: Written | None = Field(None, description="An answer in your own words.")


@operation(
    "answer_question",
    grant=Grant.WRITER,
    parameters=AnswerQuestion,
    route=Route("POST", "/questions/{question_id}/answer"),
    tool=False,
)
def answer_question(call: Call, wanted: AnswerQuestion) -> OneQuestion:
    """Answer a question. The first answer counts; its agent goes on once none of its questions is open."""
    question = _entered(call, wanted.question_id)
    return _as_answer(call, _answer(call, question, Answer(tuple(wanted.choices), wanted.text)))


class AnswerQuestions(Parameters):
    task_id: Id = Field(description="The task whose agent asks.")
    answers: Annotated[list[AnswerQuestion], Field(min_length=1, max_length=questions.MOST_OPEN)] = Field(
        description="One for each question: all of them count, or none."
    )


@operation(
    "answer_questions",
    grant=Grant.WRITER,
    parameters=AnswerQuestions,
    route=Route("POST", "/tasks/{task_id}/answers"),
    tool=False,
)
def answer_questions(call: Call, wanted: AnswerQuestions) -> Questions:
    """Answer several questions of one task at once."""
    task = call.task(wanted.task_id)
    call.enter(task.project_id)
    done = []
    for given in wanted.answers:
        question = _known(call, given.question_id)
        if question.task_id != task.id:
            raise _not_found(question.id)
        done.append(_answer(call, question, Answer(tuple(given.choices), given.text)))
    return {"success": True, "questions": [rendering.question(each, call.now) for each in done]}


class WithdrawQuestion(Parameters):
    question_id: Id = Field(description="The question.")
    reason: Lines | None = Field(None, max_length=2_000, description="Why; its agent is told.")


@operation(
    "withdraw_question",
    grant=Grant.WRITER,
    parameters=WithdrawQuestion,
    route=Route("POST", "/questions/{question_id}/withdraw"),
    tool=False,
)
def withdraw_question(call: Call, wanted: WithdrawQuestion) -> OneQuestion:
    """Withdraw a question without an answer: its agent goes on and decides itself."""
    question = _entered(call, wanted.question_id)
    if question.state is State.WITHDRAWN:
        return _as_answer(call, question)
    if question.review and question.open:
        raise review_checks.not_withdrawn(question.id, question.task_id)
    return _as_answer(call, carried_out.withdraw(call, question, (wanted.reason or "").strip() or None))


def _answer(call: Call, question: Question, answer: Answer) -> Question:
    if questions.repeats(question, answer, call.actor.id):
        return question
    after = questions.answered(question, answer, call.actor.id, call.now)
    if question.review:
        if not after.approved and after.written is None:
            raise review_checks.nothing_requested()
        review_rounds.after_answer(call, question, after)
        return after
    carried_out.end(call, question, after)
    for other in call.tx.questions.open_alike(question.project_id, question.alike):
        if questions.takes(other, answer):
            carried_out.end(call, other, questions.answered(other, answer, call.actor.id, call.now))
    return after


def _entered(call: Call, question_id: str) -> Question:
    """The question as nobody else can change it from here on."""
    call.enter(_known(call, question_id).project_id)
    return _known(call, question_id)


def _known(call: Call, question_id: str) -> Question:
    found = call.tx.questions.find(question_id)
    if found is None or not visibility.sees(call, found.project_id):
        raise _not_found(question_id)
    return found


def _not_found(question_id: str) -> Refusal:
    return Refusal(
        Code.QUESTION_NOT_FOUND,
        say("There is no question {question_id}.", question_id=question_id),
        say("List the questions that are open{deed:: …}.", deed=deed("list_questions")),
        question_id=question_id,
    )


def _as_answer(call: Call, question: Question) -> OneQuestion:
    return {"success": True, "question": rendering.question(question, call.now)}

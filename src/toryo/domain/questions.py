"""Questions that an agent asks a person about its main task: what may be asked, what counts as an answer, and how a
question ends. Pure.

`operations/tasks/questions.py` stores them and lets the task go on; `housekeeping/overdue_questions.py` takes defaults.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum

from toryo.deeds import Blank, deed
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, ProjectId, TaskId
from toryo.domain.texts import one_spacing, quoted
from toryo.domain.times import Millis
from toryo.domain.wording import say

LONGEST_QUESTION = 4_000
LONGEST_ANSWER = 10_000
LONGEST_OPTION = 200
MOST_OPTIONS = 12
MOST_OPEN = 10
"""Open questions of one task: they are one form."""
MOST_EVER = 100
"""Questions that one task may ask in all."""
CANNOT_RUN = "cannot_run:"
"""How the key of a question about checks that cannot run begins (`Question.alike`)."""
LONGEST_DEADLINE = 60 * 24 * 90
"""Minutes."""


class State(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    DEFAULTED = "defaulted"
    """Nobody answered before the deadline: the default counts, which is not a person's word."""
    WITHDRAWN = "withdrawn"
    """A person needs not or does not want to answer it, or its task ended."""


@dataclass(frozen=True, slots=True)
class Question:
    """`fallback` is the default answer. `alike` is equal for questions that ask the same."""

    id: str
    project_id: ProjectId
    task_id: TaskId
    agent_id: AgentId
    question: str
    options: tuple[str, ...]
    multiple: bool
    free_text: bool
    fallback: str | None
    deadline: Millis | None
    to_person: AgentId | None
    """Who is asked; None: who is responsible for the agent."""
    alike: str
    state: State
    created_at: Millis
    choices: tuple[str, ...] = ()
    written: str | None = None
    """The answer: which options were chosen, and what was written."""
    ended_by: str | None = None
    ended_at: Millis | None = None
    reason: str | None = None
    """Why it was withdrawn."""
    check_id: str | None = None
    """For a review: the acceptance checks that it belongs to. `alike` is its key then, the first option approves."""
    review_task_id: str | None = None
    """The task in which an agent does the review; None: a person does."""

    @property
    def open(self) -> bool:
        return self.state is State.OPEN

    @property
    def review(self) -> bool:
        return self.check_id is not None

    @property
    def about_checks(self) -> bool:
        """Whether a person is asked about checks that cannot run. Stored as a review: the first option runs them again,
        the other one is for the agent."""
        return self.review and self.alike.startswith(CANNOT_RUN)

    @property
    def approved(self) -> bool:
        """For an answered review."""
        return self.choices == self.options[:1]

    def overdue(self, now: Millis) -> bool:
        return self.open and self.deadline is not None and self.deadline <= now


@dataclass(frozen=True, slots=True)
class Answer:
    choices: tuple[str, ...] = ()
    written: str | None = None


def likeness(question: str, options: Sequence[str]) -> str:
    """A key that is equal for questions with the same text and the same options, in any order. Only case and spacing do
    not count: a sign may turn the meaning around ("tests == passed?", "tests != passed?").
    """
    parts = [one_spacing(question), *sorted(map(one_spacing, options))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def refuse_unanswerable(options: Sequence[str], *, multiple: bool, free_text: bool, fallback: str | None) -> None:
    """Raises Refusal for a question that nobody could answer, or whose default would be no answer."""
    if len({option.casefold() for option in options}) != len(options):
        raise Refusal(
            Code.VALIDATION_ERROR, "Two options are the same.", "Give each option once, with a label of its own."
        )
    if not options and not free_text:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "A question without options needs free_text.",
            "Pass options, or leave free_text out.",
        )
    if not options and multiple:
        raise Refusal(
            Code.VALIDATION_ERROR, "multiple is only for questions with options.", "Pass options, or omit multiple."
        )
    if fallback is not None and fallback not in options and not free_text:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("The default {default} is not one of the options.", default=quoted(fallback)),
            say("Use one of: {names}.", names=", ".join(map(quoted, options))),
        )


def defaulted(question: Question, now: Millis, by: str) -> Question:
    """Its deadline is over, and its default counts."""
    assert question.fallback is not None
    chosen = question.fallback in question.options
    return replace(
        question,
        state=State.DEFAULTED,
        choices=(question.fallback,) if chosen else (),
        written=None if chosen else question.fallback,
        ended_by=by,
        ended_at=now,
    )


def answered(question: Question, answer: Answer, by: str, now: Millis) -> Question:
    """The question after an answer. Raises Refusal if it is none of this question, or comes too late."""
    given = fit(question, answer)
    if not question.open:
        raise over(question)
    return replace(
        question, state=State.ANSWERED, choices=given.choices, written=given.written, ended_by=by, ended_at=now
    )


def repeats(question: Question, answer: Answer, by: str) -> bool:
    """Whether a person sends the answer again that they have given."""
    if question.state is not State.ANSWERED or question.ended_by != by:
        return False
    try:
        return fit(question, answer) == Answer(question.choices, question.written)
    except Refusal:
        return False


def takes(question: Question, answer: Answer) -> bool:
    """Whether what was answered elsewhere is an answer to this question, too."""
    try:
        fit(question, answer)
    except Refusal:
        return False
    return question.open


def withdrawn(question: Question, by: str, reason: str | None, now: Millis) -> Question:
    if not question.open:
        raise over(question)
    return replace(question, state=State.WITHDRAWN, ended_by=by, ended_at=now, reason=reason)


def fit(question: Question, answer: Answer) -> Answer:
    """The answer with the options as they were asked, in their order. Raises Refusal."""
    known = {option.casefold(): option for option in question.options}
    unknown = [choice for choice in answer.choices if choice.strip().casefold() not in known]
    if unknown:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("{choice} is not an option of this question.", choice=quoted(unknown[0])),
            _choose(question),
            question_id=question.id,
        )
    chosen = {known[choice.strip().casefold()] for choice in answer.choices}
    written = (answer.written or "").strip() or None
    if written is not None and not question.free_text:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "This question takes no answer in your own words.",
            _choose(question),
            question_id=question.id,
        )
    if len(chosen) > 1 and not question.multiple:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "This question takes one option, not several.",
            _choose(question),
            question_id=question.id,
        )
    if not chosen and written is None:
        raise Refusal(Code.VALIDATION_ERROR, "The answer is empty.", _choose(question), question_id=question.id)
    return Answer(tuple(option for option in question.options if option in chosen), written)


def _choose(question: Question) -> str:
    options = ", ".join(map(quoted, question.options))
    if not question.options:
        return "Write an answer."
    if question.free_text:
        return say("Choose one of {options}, or write an answer.", options=options)
    return say("Choose one of {options}.", options=options)


def over(question: Question) -> Refusal:
    """Why it takes no answer: who was first, or what happened in its place."""
    if question.state is State.ANSWERED:
        happened = say(
            "Question {question_id} was already answered by {person}: {answer}.",
            question_id=question.id,
            person=question.ended_by,
            answer=quoted(in_words(question)),
        )
    elif question.state is State.DEFAULTED:
        happened = say(
            "The deadline of question {question_id} is over, and its default was taken: {answer}.",
            question_id=question.id,
            answer=quoted(in_words(question)),
        )
    else:
        happened = say("Question {question_id} was withdrawn.", question_id=question.id)
    return Refusal(
        Code.CONFLICT,
        happened,
        say(
            "If the agent must know something else, tell it{deed:: …}.",
            deed=deed("tell", task_id=question.task_id, text=Blank("MESSAGE")),
        ),
        question_id=question.id,
        state=question.state.value,
        task_id=question.task_id,
    )


def in_words(question: Question) -> str:
    """The answer as one text."""
    return "; ".join([*question.choices, *([question.written] if question.written is not None else [])])

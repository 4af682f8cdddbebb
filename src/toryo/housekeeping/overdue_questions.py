"""Takes the default of a question whose deadline is over. One without a default stays open, and is shown as overdue."""

from __future__ import annotations

from functools import partial

from toryo.domain.questions import Question
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.tasks import questions

QUESTIONS = "questions"


def take_defaults(call: Call) -> int:
    """How many were taken."""
    return sum(each_fenced(call, QUESTIONS, call.tx.questions.due(call.now), partial(_take, call)))


def _take(call: Call, question: Question) -> bool:
    questions.take_default(call, question)
    return True

"""What agents ask and nobody has answered: all that one task asks one person is one form. And the reviews that no agent
does, and checks that cannot run: once, however many tasks wait for the same, since one answer is for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toryo.deeds import TO_SAY, deed
from toryo.domain.fast_dataclasses import replace
from toryo.domain.needs import Kind, Need
from toryo.domain.questions import Question
from toryo.domain.tasks import Task
from toryo.domain.texts import one_line, quoted
from toryo.domain.times import iso
from toryo.domain.wording import Worded, say, together
from toryo.operations.overview.needs.view import BRIEF, View


def forms(view: View) -> Iterator[Need]:
    asked: dict[tuple[str, str | None, bool], list[Question]] = {}
    for question in view.call.tx.questions.all_open():
        if question.project_id in view.projects and question.review_task_id is None:
            form_of = (question.task_id, _asked_person(view, question), question.review)
            asked.setdefault(form_of, []).append(question)
    tasks = {task.id: task for task in view.call.tx.tasks.find_all(sorted({task_id for task_id, *_ in asked}))}
    cannot_run: dict[tuple[str, str, str], Need] = {}
    for (task_id, person_id, review), form in asked.items():
        task, first = tasks[task_id], form[0]
        for need in view.of_task(
            Kind.QUESTION,
            task,
            _title(view, task, form),
            together((*(_asked(each) for each in form[1:] and form), *_terms(view, form))),
            deed("answer_question", question_id=first.id, text=TO_SAY),
            *(() if review else (deed("withdraw", question_id=first.id),)),
            since=first.created_at,
            to=[person_id] if person_id is not None else None,
            questions=tuple(form),
        ):
            same = (need.person_id, task.project_id, first.alike)
            if not first.about_checks:
                yield need
            elif (before := cannot_run.get(same)) is None:
                cannot_run[same] = need
            else:
                cannot_run[same] = replace(before, also=(*before.also, task.id))
    for need in cannot_run.values():
        more = len(need.also)
        title = together((need.title, say("and {more} more", more=more))) if more else need.title
        yield replace(need, title=title)


def _title(view: View, task: Task, form: Sequence[Question]) -> Worded:
    agent, question = view.name(form[0].agent_id), one_line(form[0].question)[:BRIEF]
    if form[0].about_checks:
        return say("A check cannot run: {title} ({agent})", title=task.title, agent=agent)
    if form[0].review:
        return say("{question} ({agent})", agent=agent, question=question)
    if len(form) == 1:
        return say("{agent} asks: {question}", agent=agent, question=question)
    return say("{agent} asks {count} questions: {title}", agent=agent, count=len(form), title=task.title)


def _asked_person(view: View, question: Question) -> str | None:
    """Who the agent has named, if they can still answer."""
    return question.to_person if view.can_be_asked(question.to_person, question.project_id) else None


def _asked(question: Question) -> str:
    return f"{one_line(question.question)[:BRIEF]} ({question.id})"


def _terms(view: View, form: Sequence[Question]) -> Iterator[Worded]:
    """Which options there are, and what happens when."""
    [first, *more] = form
    if not more and first.options:
        yield say("Options: {options}.", options=", ".join(map(quoted, first.options)))
    due = min((each for each in form if each.deadline is not None), key=lambda each: each.deadline or 0, default=None)
    if due is None or due.deadline is None:
        return
    if due.overdue(view.now) and due.fallback is None:
        yield say("Overdue since {time}.", time=iso(due.deadline))
    elif due.fallback is None:
        yield say("An answer is needed by {time}.", time=iso(due.deadline))
    else:
        yield say("Without an answer by {time}: {default}.", time=iso(due.deadline), default=quoted(due.fallback))

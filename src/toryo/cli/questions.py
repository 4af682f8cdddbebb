"""`toryo answer` and `toryo answers`: what agents ask people. `toryo needs` lists what is open, with these commands."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toryo.cli import output, project_lookup, shell_completion
from toryo.cli.command_context import Here, argument, command, flag, option
from toryo.cli.exit_codes import Misuse
from toryo.domain.tasks import Status
from toryo.domain.texts import one_line, printable


def add(app: typer.Typer) -> None:
    command(app, "answer")(answer)
    command(app, "answers")(answers)


def answer(
    here: Here,
    question: Annotated[str, argument("QUESTION", "The question's id, from toryo needs.")],
    given: Annotated[
        list[str] | None, argument("ANSWER", "An option or its number (several, if it takes several), or your words.")
    ] = None,
    text: Annotated[str | None, option("TEXT", "An answer in your own words, beside what you choose.")] = None,
    withdraw: Annotated[bool, flag("Withdraw the question: the agent decides itself.", "--withdraw")] = False,
    reason: Annotated[str | None, option("TEXT", "Why you withdraw it; the agent receives it.")] = None,
) -> None:
    """Answer a question of an agent. Without an answer, shows the question and its options."""
    if withdraw and (given or text):
        raise Misuse("An answer and --withdraw exclude each other.", "Leave one of them out.")
    if reason and not withdraw:
        raise Misuse("--reason is only for --withdraw.", "To answer in your own words: --text TEXT")
    if withdraw:
        done = here.send("POST", f"/questions/{question}/withdraw", {"reason": reason})
        here.answer(done, lambda: output.done(f"withdrew {question}"))
        return
    asked = here.get(f"/questions/{question}")
    if not given and not text:
        here.answer(asked, lambda: _print(asked["question"]))
        return
    choices, words = _understood(asked["question"], given or [])
    body = {"choices": choices, "text": text if text is not None else words}
    if text is not None and words is not None:
        body["text"] = f"{words}\n{text}"
    done = here.send("POST", f"/questions/{question}/answer", body)
    here.answer(done, lambda: output.done(f"answered {question}: {in_words(done['question'])}"))


def _understood(question: dict[str, Any], given: list[str]) -> tuple[list[str], str | None]:
    """Which options are meant, by label or number, and what else was written."""
    options = question["options"]
    labels = {option.casefold(): option for option in options}
    choices, words = [], []
    for each in given:
        number = int(each) if each.isascii() and each.isdigit() and len(each) < 4 else 0
        if each.strip().casefold() in labels:
            choices.append(labels[each.strip().casefold()])
        elif 1 <= number <= len(options):
            choices.append(options[number - 1])
        else:
            words.append(each)
    return choices, " ".join(words) or None


def answers(
    here: Here,
    project: Annotated[str | None, option("PRJ", "Limit to this project.", complete=shell_completion.projects)] = None,
    still_open: Annotated[bool, flag("List only what waits for an answer.", "--open")] = False,
) -> None:
    """List what agents have asked, with the answers. The newest first."""
    names = [project] if project else project_lookup.active(here)
    wanted = {"state": "open"} if still_open else {}
    found = [each for name in names for each in here.every(f"/projects/{name}/questions", "questions", **wanted)]
    here.answer({"success": True, "questions": found}, lambda: _list(found))
    if not found and not here.json:
        output.say("No question waits for an answer." if still_open else "No agent has asked anything yet.")


def _list(found: list[dict[str, Any]]) -> None:
    for each in found:
        whose = f"work of {each['agent_id']}" if each["review"] else f"{each['agent_id']} asks"
        asked = f"{output.clock(each['asked_at'])}  {whose}: {one_line(each['question'])}"
        output.done(asked, f"  {_ended(each)}")
        if each["state"] == "open":
            output.commands(f"  answer: toryo answer {each['question_id']}")


_WITHDRAWN = {
    "task_reassigned": "its task has another assignee",
    "checks_changed": "the checks of its task were changed",
    "judged_by_person": "a person has judged the work",
    "project_archived": "the project was archived",
    **{f"task_{status}": f"the work is {status}" for status in Status},
}
"""What the server's own reasons say."""


def _ended(question: dict[str, Any]) -> str:
    state, by = question["state"], question["ended_by"]
    if state == "answered":
        return f"answered by {by}: {in_words(question)}"
    if state == "defaulted":
        return f"no one answered in time; the default was taken: {in_words(question)}"
    if state == "withdrawn":
        reason = question["reason"]
        return f"withdrawn by {by}{f': {_WITHDRAWN.get(reason) or one_line(reason)}' if reason else ''}"
    if question["review_task_id"]:
        return f"an agent reviews it (task {question['review_task_id']}); you can decide before it does"
    return "overdue" if question["overdue"] else "open"


def in_words(question: dict[str, Any]) -> str:
    return one_line("; ".join([*question["choices"], *([question["text"]] if question["text"] else [])]))


def _print(question: dict[str, Any]) -> None:
    output.done(*question_lines(question), f"  {_ended(question)}")
    if question["state"] == "open":
        output.commands(*commands(question))


def question_lines(question: dict[str, Any]) -> list[str]:
    """What is asked, and what can be chosen."""
    lines = printable(question["question"]).strip().split("\n")
    shown = [
        f"{question['question_id']} ({question['agent_id']}, {question['task_id']}):",
        *(f"  | {each}" for each in lines),
    ]
    shown += [f"  {number} {one_line(option)}" for number, option in enumerate(question["options"], 1)]
    how = [
        "several can be chosen" if question["multiple"] else "",
        "or answer in your own words" if question["options"] and question["free_text"] else "",
        f"default: {one_line(question['default'])}" if question["default"] else "",
        f"until {output.clock(question['deadline'])}" if question["deadline"] else "",
        "overdue" if question["overdue"] else "",
    ]
    said = ", ".join(each for each in how if each)
    return [*shown, f"  ({said})"] if said else shown


def commands(question: dict[str, Any]) -> list[str]:
    if question["review"]:
        return [
            f"  {one_line(question['options'][0])}: toryo answer {question['question_id']} 1",
            f"  {one_line(question['options'][1])}: toryo answer {question['question_id']} 2 --text TEXT",
        ]
    what = "NUMBER" if question["options"] else "TEXT"
    return [
        f"  answer: toryo answer {question['question_id']} {what}",
        f"  withdraw: toryo answer {question['question_id']} --withdraw",
    ]

"""What conditions of subtasks mean, and what follows from them for the other subtasks."""

from __future__ import annotations

from typing import Any

import pytest

from toryo.agents import plan_choice, shell
from toryo.agents.conditions import GoOn, LeaveOut, Situation, Standing, comes_after, in_words
from toryo.agents.plan_choice import NoPlan, Step
from toryo.agents.playbook_worker import Whole
from toryo.formats import playbook_format, yaml_documents
from toryo.formats.playbook_format import Mistakes


def steps(*subtasks: str, title: str = "x", **context: Any) -> tuple[Step, ...]:
    """Of a plan whose subtasks are written like `{id: a, …}`; each gets its id as its title."""
    body = "".join(f"      - {subtask}\n" for subtask in subtasks)
    playbook = playbook_format.parse(
        yaml_documents.read(f"tasks:\n  - match: (.*)\n    subtasks:\n{body}", "plan.yaml")
    )
    return plan_choice.plan_for(playbook, {"title": title, "context": context})


def mistakes(*subtasks: str) -> list[str]:
    with pytest.raises(Mistakes) as caught:
        steps(*subtasks)
    return str(caught.value).splitlines()


def situation(plan: tuple[Step, ...], summaries: dict[str, str] | None = None, **statuses: str) -> Situation:
    """Every step as it stands; what is not named is still to be done."""
    standings = {}
    for step in plan:
        status = statuses.get(step.id, "todo")
        over = status in ("completed", "failed", "cancelled")
        waits = frozenset(comes_after(step))
        standings[step.id] = Standing(step.title, status, over, (summaries or {}).get(step.id, ""), waits)
    return Situation(plan, standings)


A = "{id: a, title: A}"
ON_FAILURE = "{id: b, title: B, when: {subtask: a, status: failed}}"


@pytest.mark.parametrize(
    ("condition", "status", "summary", "holds"),
    [
        ("status: failed", "failed", "", True),
        ("status: failed", "completed", "", False),
        ("status: [failed, cancelled]", "cancelled", "", True),
        ("status: closed", "cancelled", "", True),
        ("result: success", "completed", "", True),
        ("result: failed", "completed", "", False),
        ('summary_matches: "[0-9]+ left"', "completed", "12 left over", True),
        ('summary_matches: "[0-9]+ left"', "completed", "none left", False),
        ("status: failed, summary_matches: disk", "failed", "the disk is full", True),
        ("status: failed, summary_matches: disk", "completed", "the disk is full", False),
    ],
)
def test_a_condition_on_a_subtask_is_about_how_it_ended(condition, status, summary, holds) -> None:
    plan = steps(A, f"{{id: b, title: B, when: {{subtask: a, {condition}}}}}")
    where = situation(plan, {"a": summary}, a=status)
    assert where.holds(plan[1]) is holds
    assert isinstance(next(where.decisions(), None), LeaveOut) is not holds


@pytest.mark.parametrize("status", ["todo", "in_progress", "blocked"])
def test_nothing_is_decided_before_the_named_subtask_has_ended(status) -> None:
    where = situation(steps(A, ON_FAILURE), a=status)
    assert list(where.decisions()) == []


def test_a_failure_that_will_be_tried_again_decides_nothing_yet() -> None:
    plan = steps(A, ON_FAILURE)
    standings = {"a": Standing("A", "failed", over=False), "b": Standing("B", "todo", waits_for=frozenset({"a"}))}
    assert list(Situation(plan, standings).decisions()) == []


def test_what_its_condition_lets_go_on_does_not_wait_for_the_failed_one() -> None:
    assert list(situation(steps(A, ON_FAILURE), a="failed").decisions()) == [GoOn("b", ("a",))]


def test_who_depends_on_what_was_left_out_goes_on_without_it() -> None:
    plan = steps(A, ON_FAILURE, "{id: c, title: C, depends_on: [a, b]}")
    assert list(situation(plan, a="completed").decisions()) == [
        LeaveOut("b", "“A” is completed, not failed"),
    ]
    assert list(situation(plan, a="completed", b="cancelled").decisions()) == [GoOn("c", ("b",))]


def test_what_a_person_cancelled_still_holds_up_who_depends_on_it() -> None:
    plan = steps(A, "{id: b, title: B, depends_on: [a]}")
    assert list(situation(plan, a="cancelled").decisions()) == []


def test_a_failure_is_provided_for_by_a_subtask_for_just_that() -> None:
    assert situation(steps(A, ON_FAILURE), a="failed").provided_for("a")
    assert situation(steps(A, ON_FAILURE), a="failed", b="failed").provided_for("a")
    assert not situation(steps(A, ON_FAILURE), a="failed", b="cancelled").provided_for("a")


def test_a_failure_is_not_provided_for_by_a_subtask_that_comes_either_way() -> None:
    plan = steps(A, "{id: b, title: B, when: {subtask: a, status: closed}}")
    assert not situation(plan, a="failed").provided_for("a")


def test_what_needs_a_failure_that_was_provided_for_is_left_out_and_so_on_down() -> None:
    plan = steps(A, ON_FAILURE, "{id: c, title: C, depends_on: [a]}", "{id: d, title: D, depends_on: [c]}")
    failed = situation(plan, a="failed", b="completed")
    assert list(failed.decisions()) == [LeaveOut("c", "it needs “A”, which failed")]
    after = situation(plan, a="failed", b="completed", c="cancelled")
    assert list(after.decisions()) == [LeaveOut("d", "it needs “C”, which was left out")]


def test_without_a_subtask_for_a_failure_nothing_is_left_out() -> None:
    plan = steps(A, "{id: c, title: C, depends_on: [a]}")
    assert list(situation(plan, a="failed").decisions()) == []


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("equals: minor", True),
        ("equals: patch", False),
        ("not_equals: patch", True),
        ("not_equals: minor", False),
        ('matches: "^m"', True),
        ('matches: "^p"', False),
    ],
)
def test_a_condition_on_a_variable_is_about_this_task(condition, holds) -> None:
    plan = steps(f'{{id: a, title: A, when: {{variable: "{{{{context.kind}}}}", {condition}}}}}', kind="minor")
    assert situation(plan).holds(plan[0]) is holds


@pytest.mark.parametrize(("given", "written"), [(0, "0"), (True, "true"), ("0", "0")])
def test_values_are_compared_as_they_are_written(given, written) -> None:
    [step] = steps(f'{{id: a, title: A, when: {{variable: "{{{{context.n}}}}", equals: {written}}}}}', n=given)
    assert situation((step,)).holds(step)


def test_several_conditions_must_all_hold() -> None:
    both = "[{subtask: a, status: failed}, {variable: '{{title}}', equals: x}]"
    plan = steps(A, f"{{id: b, title: B, when: {both}}}")
    assert situation(plan, a="failed").holds(plan[1])
    other = steps(A, f"{{id: b, title: B, when: {both}}}", title="y")
    assert situation(other, a="failed").against(other[1]) == "{{title}} is 'y', not 'x'"
    assert in_words(plan[1]) == "a is failed and {{title}} ('x') is 'x'"


@pytest.mark.parametrize(
    ("subtasks", "line", "words"),
    [
        ((A, "{id: b, title: B, when: {subtask: aa, status: failed}}"), 5, "there is no subtask 'aa'; did you mean a?"),
        ((A, "{id: b, title: B, when: {subtask: a, staus: failed}}"), 5, "did you mean status?"),
        (
            (A, "{id: b, title: B, when: {subtask: a, status: fail}}"),
            5,
            "'completed', 'failed', 'cancelled' or 'closed'",
        ),
        (
            (A, "{id: b, title: B, when: {subtask: a}}"),
            5,
            "add what the subtask must be: status, result or summary_matches",
        ),
        ((A, "{id: b, title: B, when: {status: failed}}"), 5, "either a subtask or a variable"),
        (
            (A, "{id: b, title: B, when: {variable: x}}"),
            5,
            "add what the variable must be: equals, not_equals or matches",
        ),
        ((A, "{id: b, title: B, when: {variable: x, equals: [y]}}"), 5, "a text, a number, true or false"),
        ((A, "{id: b, title: B, when: {subtask: a, summary_matches: '('}}"), 5, "not a valid regular expression"),
        ((A, "{id: b, title: B, when: {subtask: a, status: failed, result: failed}}"), 5, "cannot be combined"),
        ((A, "{id: b, title: B, when: {variable: '{{titel}}', equals: x}}"), 5, "did you mean title?"),
        (("{id: a, title: A, depends_on: [b]}", ON_FAILURE), 2, "wait for each other: a -> b -> a"),
        (("{id: a, title: A, when: {subtask: a, status: failed}}",), 2, "wait for each other: a -> a"),
        (("{id: a, title: A, for_each: [x]}",), 4, "put {{item}} into it"),
        (("{id: a, title: 'A {{item}}', for_each: files}",), 4, "a variable that contains one"),
        (("{id: a, title: 'A {{item}}'}",), 4, "there is no variable 'item'"),
        (("{id: a, title: 'A {{item}}', for_each: [x]}", ON_FAILURE), 5, "only a subtask with the same list"),
    ],
)
def test_a_mistake_names_its_line_and_what_would_be_right(subtasks, line, words) -> None:
    [found] = mistakes(*subtasks)
    assert found.startswith(f"plan.yaml:{line}: ")
    assert words in found


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(
    ("condition", "line", "words"),
    [
        (("variable: x", "equal: y"), 8, "did you mean equals?"),
        (("variable: x", "equals: [y]"), 8, "a text, a number, true or false"),
        (("equals: x", "variable: '{{titel}}'"), 8, "did you mean title?"),
        (("status: failed", "subtask: b"), 8, "there is no subtask 'b'"),
        (("subtask: a", "status: fail"), 8, "'completed', 'failed', 'cancelled' or 'closed'"),
        (("subtask: a", "summary_matches: '('"), 8, "not a valid regular expression"),
    ],
)
def test_a_mistake_in_a_condition_of_several_lines_names_the_very_line(
    condition: tuple[str, ...], line: int, words: str, alone: bool
) -> None:
    head = "tasks:\n- subtasks:\n  - {id: a, title: A}\n  - id: c\n    title: C\n    when:\n"
    first = "      " if alone else "    - "
    text = head + first + "\n      ".join(condition)
    with pytest.raises(Mistakes) as caught:
        playbook_format.parse(yaml_documents.read(text, "plan.yaml"))
    [found] = str(caught.value).splitlines()
    assert found.startswith(f"plan.yaml:{line}: ")
    assert words in found


def test_a_playbook_given_as_data_is_left_as_it_was(tmp_path) -> None:
    condition = {"variable": "{{title}}", "equals": "x"}
    given = {"tasks": [{"subtasks": [{"id": "a", "title": "A", "when": condition}]}]}
    playbook_format.read(given, tmp_path)
    assert given["tasks"][0]["subtasks"][0]["when"] is condition


# --- a subtask for each thing of a list ------------------------------------------------------------------------------

EACH = "for_each: '{{context.files}}'"


def test_two_subtasks_for_the_same_list_go_thing_by_thing_and_others_wait_for_all() -> None:
    plan = steps(
        f"{{id: make, title: 'Make {{{{item}}}}', {EACH}}}",
        f"{{id: mend, title: 'Mend {{{{item}}}}', {EACH}, when: {{subtask: make, status: failed}}}}",
        "{id: end, title: End, depends_on: [make, mend]}",
        files=["x", "y", "x"],
    )
    assert [step.title for step in plan] == ["Make x", "Make y", "Mend x", "Mend y", "End"]
    assert [comes_after(step) for step in plan[2:4]] == [("make-1",), ("make-2",)]
    assert plan[4].depends_on == ("make-1", "make-2", "mend-1", "mend-2")


def test_things_of_a_list_may_have_parts() -> None:
    [step] = steps("{id: a, title: 'Make {{item.name}}', for_each: [{name: x}]}")
    assert step.title == "Make x"


@pytest.mark.parametrize(("files", "words"), [("x", "needs a list"), ([], "its lists are empty")])
def test_a_list_that_is_none_or_empty_is_said_to_be_so(files, words) -> None:
    with pytest.raises(NoPlan, match=words):
        steps(f"{{id: a, title: 'Make {{{{item}}}}', {EACH}}}", files=files)


# --- a plan within one task ------------------------------------------------------------------------------------------


def whole(plan: tuple[Step, ...], *failing: str) -> tuple[str, str, list[str]]:
    """Result, summary, and what was run in which order; the named ones fail each time."""
    ran: list[str] = []

    def run(step: Step) -> shell.Ran:
        ran.append(step.id)
        return shell.Ran("", "broken" if step.id in failing else None)

    return (*Whole(plan_choice.in_order(plan), run).done(), ran)


def test_a_plan_within_one_task_keeps_its_conditions_and_tries() -> None:
    plan = steps("{id: a, title: A, retry: 1}", ON_FAILURE, "{id: c, title: C, depends_on: [b]}")
    assert whole(plan)[::2] == ("success", ["a", "c"])
    result, summary, ran = whole(plan, "a")
    assert (result, ran) == ("success", ["a", "a", "b", "c"])
    assert summary == "- A: failed: broken\n- B: completed\n- C: completed"
    assert whole(plan, "a", "b")[::2] == ("failed", ["a", "a", "b"])


def test_a_plan_of_which_nothing_is_needed_is_done() -> None:
    plan = steps("{id: a, title: A, when: {variable: '{{title}}', equals: y}}")
    assert whole(plan) == ("success", "- A: left out: {{title}} is 'x', not 'y'", [])

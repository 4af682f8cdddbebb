"""The format of playbooks, and choosing and filling in a plan."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from toryo.agents.plan_choice import NoPlan, fill, fits, plan_for
from toryo.formats import plan_options, playbook_format, yaml_documents
from toryo.formats.playbook_format import Mistakes

TRANSLATE = r"""
tasks:
  - match: Translate (?P<file>\w+)\.txt
    variables: {out: "{{file}}_ja.txt"}
    retry: 1
    subtasks:
      - id: ja
        title: "Make {{out}}"
        capability: japanese
        context:
          command: "tr a b < {{file}}.txt > {{out}}"
          outputs: ["{{out}}"]
          timeout_seconds: "{{context.limit}}"
      - {id: check, title: "Check {{out}}", depends_on: [ja], run: [test, -s, "{{out}}"], retry: 0}
  - match: "*"
    subtasks:
      - {id: any, title: "Do: {{title}}"}
"""


def read(text: str):
    return playbook_format.parse(yaml_documents.read(text, "plan.yaml"))


def mistakes(text: str) -> str:
    with pytest.raises(Mistakes) as caught:
        read(text)
    return str(caught.value)


def plan(subtasks: str, **more: str) -> str:
    head = "".join(f"    {name}: {value}\n" for name, value in more.items())
    return f"tasks:\n  - match: x\n{head}    subtasks:\n{subtasks}"


def test_a_plan_is_chosen_by_title_and_its_variables_are_filled_in() -> None:
    task = {"task_id": "tsk_1", "title": "Translate hello.txt", "context": {"limit": 30}}
    ja, check = plan_for(read(TRANSLATE), task)
    assert ja.title == "Make hello_ja.txt"
    assert ja.context == {
        "command": "tr a b < hello.txt > hello_ja.txt",
        "outputs": ["hello_ja.txt"],
        "timeout_seconds": 30,
    }
    assert (ja.capability, ja.retry, ja.priority) == ("japanese", 1, "medium")
    assert (check.depends_on, check.run, check.retry) == (("ja",), ["test", "-s", "hello_ja.txt"], 0)


def test_the_first_plan_that_fits_wins() -> None:
    [step] = plan_for(read(TRANSLATE), {"title": "Something else"})
    assert step.title == "Do: Something else"


def test_a_task_that_no_plan_is_for_is_told_which_there_are() -> None:
    with pytest.raises(NoPlan, match=r"no plan for the title 'y'; it has plans for 'x'"):
        plan_for(read(plan("      - {id: a, title: A}\n")), {"title": "y"})


def test_a_value_that_the_task_does_not_have_is_named() -> None:
    with pytest.raises(NoPlan, match=r"\{\{context\.limit\}\}"):
        plan_for(read(TRANSLATE), {"title": "Translate hello.txt"})


@pytest.mark.parametrize(
    ("pattern", "title", "groups"),
    [
        ("Fix [bug] (1)", "Fix [bug] (1)", {}),
        ("Fix (.*)", "Fix it", {"1": "it"}),
        ("Fix (?P<what>.*)", "Fix it", {"1": "it", "what": "it"}),
        ("Fix *", "Fix it", {}),
        ("*", "anything", {}),
        ("Fix", "Fix it", None),
        ("Fi(", "Fix", None),
    ],
)
def test_a_pattern_is_a_title_or_a_regular_expression_for_all_of_it_or_a_glob(pattern, title, groups) -> None:
    assert fits(pattern, title) == groups


def test_a_text_that_is_nothing_but_a_variable_keeps_its_type() -> None:
    variables = {"n": 3, "names": ["a"], "context": {"x": {"y": None}}}
    assert fill(["{{n}}", "{{ n }} of {{n}}", "{{names}}", {"k": "{{context.x.y}}"}, 7], variables) == [
        3,
        "3 of 3",
        ["a"],
        {"k": None},
        7,
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("tasks: []\n", 1, "must not be empty"),
        ("task: []\n", 1, "did you mean tasks?"),
        (plan("      - {id: a, titel: A}\n"), 4, "did you mean title?"),
        (plan("      - {id: a, title: A}\n      - {id: a, title: B}\n"), 5, "two subtasks have the id 'a'"),
        (plan("      - {id: a, title: A}\n      - {id: b, title: A}\n"), 5, "two subtasks have the title 'A'"),
        (plan("      - {id: a, title: A, depends_on: [aa]}\n"), 4, "there is no subtask 'aa'; did you mean a?"),
        (
            plan("      - {id: a, title: A, depends_on: [b]}\n      - {id: b, title: B, depends_on: [a]}\n"),
            2,
            "wait for each other: a -> b -> a",
        ),
        (plan("      - {id: a, title: A, assignee: x, capability: y}\n"), 4, "cannot be combined: use one of them"),
        (plan('      - {id: a, title: "{{nope}}"}\n', variables="{nop: 1}"), 5, "did you mean nop?"),
        (plan("      - {id: a, title: A, priority: urgentest}\n"), 4, "'low', 'medium', 'high' or 'critical'"),
    ],
)
def test_a_mistake_names_its_line_and_what_would_be_right(text, line, words) -> None:
    found = mistakes(text)
    assert found.startswith(f"plan.yaml:{line}: ")
    assert words in found


PATTERNS = 20
MANY: dict[str, Any] = {
    "playbook": {"tasks": [{"match": f"a{n}", "subtasks": [{"id": "a", "title": "A"}]} for n in range(PATTERNS)]},
    "script": {"answers": [{"when": f"a{n}", "answer": "A"} for n in range(PATTERNS)]},
}


@pytest.mark.parametrize(("names", "refused"), [(["playbook"], [15]), (["script"], [15]), ([*MANY], [15, 20])])
def test_the_patterns_of_an_agents_plans_are_judged_for_a_bounded_time(
    names: list[str], refused: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a clock that goes on by a second whenever somebody looks at it, as if each pattern took one."""
    options = {name: MANY[name] for name in names}
    assert list(plan_options.mistakes(options)) == []
    seconds = itertools.count()
    with monkeypatch.context() as slow:
        slow.setattr("time.monotonic", lambda: float(next(seconds)))
        found = dict(plan_options.mistakes(options))
    assert list(found) == list(options)
    assert [str(each).count("checking the patterns of this plan takes too long") for each in found.values()] == refused
    assert list(plan_options.mistakes(options)) == []


def test_a_playbook_is_text_or_a_mapping_or_a_file_of_the_project(tmp_path) -> None:
    text = plan("      - {id: a, title: A}\n")
    (tmp_path / "plan.yaml").write_text(text)
    as_text = playbook_format.read(text, tmp_path)
    assert playbook_format.read("plan.yaml", tmp_path) == as_text
    mapping = {"tasks": [{"match": "x", "subtasks": [{"id": "a", "title": "A"}]}]}
    assert playbook_format.read(mapping, tmp_path) == as_text
    assert (
        playbook_format.read('{"tasks": [{"match": "x", "subtasks": [{"id": "a", "title": "A"}]}]}', tmp_path)
        == as_text
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is missing"),
        ("nothing.yaml", "No such file or directory"),
        ("../plan.yaml", "outside the project directory"),
        ({"tasks": [{"match": "x", "subtasks": [{"id": "a"}]}]}, r"tasks\[0\]\.subtasks\[0\]\.title: is missing"),
    ],
)
def test_a_playbook_that_cannot_be_had_says_why(tmp_path, value, words) -> None:
    with pytest.raises(Mistakes, match=words):
        playbook_format.read(value, tmp_path)

"""`toryo playbook check`: trying a plan without a server."""

from __future__ import annotations

import json

import pytest

from toryo.cli import main, manifest
from toryo.cli.failures import Misuse

PLAN = r"""
tasks:
  - match: Release (?P<version>\d+\.\d+\.(?P<patch>\d+))
    subtasks:
      - {id: build, title: "Build {{version}}", assignee: builder, context: {command: make}, retry: 2}
      - {id: notes, title: "Notes of {{version}}", when: {variable: "{{patch}}", equals: 0}}
      - {id: mend, title: Mend, depends_on: [notes], when: {subtask: build, status: failed}, capability: mending}
"""


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN)
    return file


def typed(capsys, *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main.main(["playbook", "check", *map(str, words)])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_what_a_title_would_become_is_shown(plan, capsys) -> None:
    code, out, _ = typed(capsys, plan, "--title", "Release 1.2.3")
    assert code == 0
    build, notes, mend = (" ".join(each.split()) for each in out.splitlines()[1:])
    assert build == "build Build 1.2.3 builder make (tried again up to 2 times)"
    assert notes == "notes Notes of 1.2.3 whoever is free left out: {{patch}} is '3', not '0'"
    assert mend == "mend Mend able: mending notes (when build is failed)"


def test_a_script_gets_one_document(plan, capsys) -> None:
    code, out, _ = typed(capsys, plan, "--title", "Release 1.2.0", "--json")
    answer = json.loads(out)
    assert (code, answer["success"], answer["title"]) == (0, True, "Release 1.2.0")
    assert [each["id"] for each in answer["subtasks"]] == ["build", "notes", "mend"]
    assert "left_out" not in answer["subtasks"][1]


def test_without_a_title_the_plans_are_named(plan, capsys) -> None:
    code, out, _ = typed(capsys, plan)
    assert code == 0
    assert "build, notes, mend" in out


@pytest.mark.parametrize("content", ["tasks: []".encode("utf-16"), b"\x7fELF\x02\xff\x00", b"a: &a [*a]", b"- " * 9999])
@pytest.mark.parametrize("name", ["plan.yaml", "toryo.yaml"])
def test_a_file_that_is_no_text_or_costs_too_much_is_one_sentence(tmp_path, capsys, content, name) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    code, out, err = typed(capsys, file)
    assert (code, out) == (2, "")
    assert str(file) in err
    assert len(err.splitlines()) == 1
    with pytest.raises(Misuse, match=r"toryo\.yaml|plan\.yaml"):
        manifest.read(file)


def test_a_value_within_quotes_is_named_with_its_line_when_the_plan_is_checked(plan, capsys) -> None:
    plan.write_text(PLAN.replace("{command: make}", """{command: 'make "{{version}}"'}"""))
    code, _, err = typed(capsys, plan)
    assert code == 2
    assert f"{plan}:5: tasks[0].subtasks[0].context.command: {{{{version}}}} stands within double quotes" in err


def test_mistakes_are_named_with_their_lines_and_end_with_2(plan, capsys) -> None:
    plan.write_text(PLAN.replace("subtask: build", "subtask: bild").replace("retry", "retries"))
    code, out, err = typed(capsys, plan)
    assert (code, out) == (2, "")
    assert f"toryo: {plan}:5: tasks[0].subtasks[0].retries: there is no such key; did you mean retry?" in err
    plan.write_text(PLAN.replace("subtask: build", "subtask: bild"))
    assert f"{plan}:7: tasks[0].subtasks[2].when[0].subtask: there is no subtask 'bild'" in typed(capsys, plan)[2]


def test_a_title_that_no_plan_is_for_ends_with_1(plan, capsys) -> None:
    code, _, err = typed(capsys, plan, "--title", "Something")
    assert code == 1
    assert "no plan for the title 'Something'" in err


@pytest.mark.parametrize("context", ["{", "[]"])
def test_a_context_that_is_no_object_ends_with_2(plan, capsys, context) -> None:
    assert typed(capsys, plan, "--title", "Release 1.2.3", "--context", context)[0] == 2


def test_the_playbooks_of_a_team_are_found_in_its_file(plan, capsys) -> None:
    team = plan.parent / "toryo.yaml"
    agent = (
        "  - {id: lead, role: manager, provider: playbook, provider_options: {playbook: plan.yaml}, projects: [p]}\n"
    )
    team.write_text("projects: [{id: p, name: P, directory: .}]\nagents:\n" + agent)
    code, out, _ = typed(capsys, team)
    assert code == 0
    assert out.splitlines()[1].startswith("lead")
    assert typed(capsys, team, "--agent", "nobody")[0] == 2

"""`toryo playbook check`: trying a plan without a server."""

from __future__ import annotations

import json

import pytest

from toryo.cli import main, manifest
from toryo.cli.exit_codes import Misuse
from toryo.formats import playbook_format, script_format, yaml_documents

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
    build, notes, mend = (" ".join(line.split()) for line in out.splitlines()[1:])
    assert build == "build Build 1.2.3 builder make (retried up to 2 times)"
    assert notes == "notes Notes of 1.2.3 any free worker left out: {{patch}} is '3', not '0'"
    assert mend == "mend Mend able: mending notes (when build is failed)"


def test_a_script_gets_one_document(plan, capsys) -> None:
    code, out, _ = typed(capsys, plan, "--title", "Release 1.2.0", "--json")
    answer = json.loads(out)
    assert (code, answer["success"], answer["title"]) == (0, True, "Release 1.2.0")
    assert [subtask["id"] for subtask in answer["subtasks"]] == ["build", "notes", "mend"]
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
    assert f"{plan}:5: tasks[0].subtasks[0].context.command: {{{{version}}}} is inside double quotes" in err


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


TEAM = """\
projects: [{id: p, name: P, directory: ., settings: {commands_from: managers}}]
agents:
  - {id: builder, role: worker, reports_to: lead, projects: [p]}
  - {id: smith, role: worker, reports_to: lead, projects: [p], capabilities: [mending]}
  - id: lead
    role: manager
    provider: playbook
    projects: [p]
    provider_options:
      playbook: plan.yaml
"""


def test_the_playbooks_of_a_team_are_found_in_its_file(plan, capsys) -> None:
    team = plan.parent / "toryo.yaml"
    team.write_text(TEAM)
    code, out, _ = typed(capsys, team)
    assert code == 0
    assert out.splitlines()[1].startswith("lead")
    code, _, err = typed(capsys, team, "--agent", "nobody")
    assert code == 2
    assert "It has: lead" in err


IN_PLACE = """\
      playbook: |
        # a plan
        tasks:
          - match: Build
            subtasks:
              - {id: a, title: A, assignee: builder}
              - id: b
                title: B
                %s
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("assignee: bulder", "subtasks[1].assignee: there is no agent 'bulder'; did you mean builder?"),
        ("assignee: other", "lead cannot assign tasks to other; give it reports_to: lead and the same project"),
        ("capability: mendin", "no worker of lead has the capability 'mendin'; did you mean mending?"),
        ("run: make", "run is only for the playbook of a worker"),
        ("context: {command: make}", "project p does not accept commands from managers; set commands_from: managers"),
        ("acceptance: [{command: make}]", "project p does not accept commands from managers"),
        ("acceptance: [{fil: x}]", "a check has no key 'fil'; did you mean file?"),
        ("acceptance: [{file: x, command: y}]", "each check needs a file, a command or a diff"),
        ("summary: x", "there is no such key"),
        ("title: *x", "there is no anchor (&) with this name"),
    ],
)
@pytest.mark.parametrize("written", ["mapping", "text", "file"])
def test_what_nobody_could_do_is_named_with_the_line_of_the_mistake(tmp_path, capsys, line, words, written) -> None:
    text = TEAM.replace("settings: {commands_from: managers}", "settings: {}").replace(
        "      playbook: plan.yaml\n", ""
    )
    text = text.replace("agents:\n", "agents:\n  - {id: other, role: worker, projects: [p]}\n")
    block = IN_PLACE % line
    if written == "mapping":
        block = block.replace("playbook: |", "playbook:")
    file, number = tmp_path / "toryo.yaml", len(text.splitlines()) + 9
    if written == "file":
        (tmp_path / "plan.yaml").write_text("\n".join(block.splitlines()[1:]))
        block = "      playbook: plan.yaml\n"
    file.write_text(text + block)
    code, out, err = typed(capsys, file)
    assert (code, out) == (2, "")
    assert words in err
    if written == "file":
        assert f"{file}:{number - 8}: agent lead: plan.yaml:8" in err
    else:
        assert f"{file}:{number}:" in err


def test_a_manager_for_whom_nobody_works_is_a_mistake(plan, capsys) -> None:
    file = plan.parent / "toryo.yaml"
    file.write_text(TEAM.replace("reports_to: lead, ", ""))
    code, _, err = typed(capsys, file)
    assert code == 2
    assert f"{file}:10: agent lead: no one in project p reports to it" in err
    assert "reports_to: lead" in err


@pytest.mark.parametrize(
    ("match", "right"),
    [
        (r"Release (?P<version>\d+", False),
        ("Fix [the door", False),
        ("Fix (part 1", False),
        (r"*\d+", False),
        ("*.txt", True),
        ("*.txt (signed)", True),
        ("??-*", True),
        ("Fix [it]", True),
    ],
)
@pytest.mark.parametrize("kind", [playbook_format, script_format])
def test_a_pattern_is_a_regular_expression_or_a_glob_or_a_mistake(match, right, kind) -> None:
    rest = {"run": "make"} if kind is script_format else {"subtasks": [{"id": "a", "title": "A"}]}
    document = yaml_documents.Document({"tasks": [{"match": match, **rest}]}, "plan.yaml")
    if right:
        kind.parse(document)
        return
    with pytest.raises(yaml_documents.Mistakes, match="not a valid regular expression"):
        kind.parse(document)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: b: c", "1:5", "a colon is not expected here"),
        ("a:\n\t- b", "2:1", "indent with spaces"),
        ("a: @x", "1:4", "put the text in quotes"),
        ("a: 1\nb: [1, 2\nc: 3", "3:2", "the list that starts with [ on line 2 is not closed"),
        ("a: {b: 1", "1:4", "the mapping that starts with { on line 1 is not closed"),
        ("a: 'x\nb: 1\n", "1:4", "this quotation mark is never closed"),
        ("a:\n  - b\n c: 1\n", "3:2", "check the indentation of 'c: 1'"),
        ("t: {{file}}", "1:5", "put {{…}} in quotes"),
        ('m: "\\d+"', "1:6", "write two backslashes"),
        ("a: !x y", "1:4", "words that begin with ! are not supported"),
        ("a: 1\n---\nb: 2", "2:1", "a second document begins here"),
        ("a: - b", "1:4", "a list cannot begin here"),
        ("a: ]", "1:4", "a value is missing"),
    ],
)
def test_what_is_no_yaml_is_said_in_plain_words_with_line_and_column(text, place, words) -> None:
    with pytest.raises(yaml_documents.Mistakes) as found:
        yaml_documents.read(text, "toryo.yaml")
    assert str(found.value).startswith(f"toryo.yaml:{place}: not valid YAML: ")
    assert words in str(found.value)

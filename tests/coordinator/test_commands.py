"""Values in commands: whatever an agent puts into a task, a command of the plan runs as it was written."""

import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import cast

import pytest

from toryo.agents import shell
from toryo.agents.agent_loop import Session
from toryo.agents.plan_choice import NoPlan, plan_for
from toryo.agents.script import ScriptRunner
from toryo.coordinator import processes
from toryo.coordinator.config import Mistakes
from toryo.coordinator.provider import BadConfig
from toryo.formats import command_templates, playbook_format, script_format, yaml_documents
from toryo.formats.command_templates import Unfit

MARKER = "marker"
VALUES = [
    "",
    "plain",
    "two words",
    "tab\tand line\nfeed",
    "'",
    '"',
    'it\'s "both"',
    f"; touch {MARKER}",
    f"'; touch {MARKER}; '",
    f'"; touch {MARKER}; "',
    f"'\"'\"'; touch {MARKER} #",
    f"\\'; touch {MARKER} #",
    f"\\\\'; touch {MARKER} #",
    f"$(touch {MARKER})",
    f"`touch {MARKER}`",
    f"${{x:=$(touch {MARKER})}}",
    f"a[$(touch {MARKER})]",
    f"x\ntouch {MARKER}\n",
    f"E\ntouch {MARKER}\n",
    f"a && touch {MARKER}",
    f"a || touch {MARKER} & touch {MARKER}",
    f"> {MARKER}",
    "--flag",
    "-rf",
    "-5",
    "*",
    "~",
    "~root",
    "[a-z]?",
    "{a,b}",
    "$HOME",
    "!!",
    "#",
    "\\",
    "a\\",
    "{{x}}",
    "{{title}}",
    "日本語 ✂ é",
    "\u202egpj.exe",
    "nul\0byte",
    "esc\x1b]0;title\x07",
    "\ud800",
]
SHAPES = {
    "./record {{x}}": lambda v: [v],
    "./record {{ x }} b": lambda v: [v, "b"],
    "./record a/{{x}}.txt": lambda v: [f"a/{v}.txt"],
    "./record --name={{x}}": lambda v: [f"--name={v}"],
    "./record -- {{x}}": lambda v: ["--", v],
    "./record {{x}}{{x}}": lambda v: [v + v],
    './record "in quotes: "{{x}}" and on"': lambda v: [f"in quotes: {v} and on"],
    "./record 'it'\\''s' \\\n {{x}} # a comment isn't read": lambda v: ["it's", v],
    "cat /dev/null | ./record {{x}} > out 2>&1 && true": lambda v: [v],
    "if true; then ./record {{x}}; fi": lambda v: [v],
    "out=$(./record {{x}})": lambda v: [v],
    "(./record {{x}})": lambda v: [v],
    'given={{x}}; ./record "$given"': lambda v: [v],
    "sh -c './record \"$1\"' sh {{x}}": lambda v: [v],
    "nohup nice -n 1 ./record {{x}}": lambda v: [v],
    "for each in {{x}} b; do ./record $each c; break; done": None,
}
"""Templates that are accepted, and the arguments that `record` gets."""
LISTS = [
    (["./record", "{{x}}"], lambda v: [v]),
    (["./record", "a{{x}}b", "{{ x }}"], lambda v: [f"a{v}b", v]),
    (["sh", "-c", './record "$1"', "sh", "{{x}}"], lambda v: [v]),
]
REFUSED = [
    "./record '{{x}}'",
    './record "{{x}}"',
    "./record \"'{{x}}'\"",
    "./record 'a' 'b {{x}}'",
    './record "$(./record {{x}})"',
    './record "$(./record "{{x}}")"',
    "./record `./record {{x}}`",
    "cat <<E\n{{x}}\nE",
    "cat <<'E'\n{{x}}\nE",
    "cat <<-E\n\t{{x}}\n\tE",
    "cat <<< {{x}}",
    "./record $((1 + {{x}}))",
    "((y = {{x}}))",
    "./record $[ {{x}} ]",
    "[[ {{x}} -eq 1 ]] && ./record",
    "./record ${y:-{{x}}}",
    "./record ${{x}}",
    "./record $\\\n{{x}}",
    "./record $'{{x}}'",
    "./record \\{{x}}",
    "./record # {{x}}",
    "./record 'never ended {{x}}",
    "{{x}}",
    "{{x}} --check",
    "bin/{{x}}",
    "X=1 {{x}}",
    "true; {{x}}",
    "true && {{x}}",
    "if {{x}}; then true; fi",
    "echo a | {{x}}",
    "echo $({{x}})",
    "nohup {{x}}",
    "env -i A=1 {{x}}",
    "timeout 5 {{x}}",
    "xargs -n 1 {{x}}",
    "eval ./record {{x}}",
    ". {{x}}",
    "sh {{x}}",
    "sh -c {{x}}",
    "sh -c 'echo {{x}}'",
    "sh < {{x}}",
    "/usr/bin/env bash -ec {{x}}",
    "sudo -n sh -c {{x}}",
    "python3 -c {{x}}",
    "python3.12 -I {{x}}",
    "awk {{x}} file",
    "ssh host ls {{x}}",
    "make DIR={{x}}",
    "export {{x}}",
    ["{{x}}"],
    ["{{x}}", "a"],
    ["sh", "-c", "./record {{x}}"],
    ["bash", "-lc", "{{x}}"],
    ["env", "sh", "-c", "./record {{x}}"],
    "sudo -u bob sh -c {{x}}",
    "sudo -u bob ssh host {{x}}",
    "env -u A bash -c {{x}}",
    "xargs -I {} sh -c {{x}}",
    "timeout -s KILL 5 bash -c {{x}}",
    "find . -exec sh -c {{x}} ';'",
    "flock lock sh -c {{x}}",
    "docker exec box sh -c {{x}}",
    "python3 -m {{x}}",
    ["flock", "lock", "sh", "-c", "{{x}}"],
    ["python3", "-c", "print('{{x}}')"],
    [],
    ["ls", 1],
    {"sh": "{{x}}"},
    5,
]


def as_playbook(section):
    return playbook_format.parse(
        yaml_documents.Document({"tasks": [{"subtasks": [{"id": "a", "title": "A", **section}]}]}, "playbook.yaml")
    )


def step_of(section, value):
    plan = as_playbook(section)
    [step] = plan_for(plan, {"title": "A", "context": {"x": value}})
    return step


def scripted(template, value):
    script = script_format.parse(yaml_documents.Document({"tasks": [{"run": template}]}, "script.yaml"))
    session = Told({"title": "A", "context": {"x": value}})
    return ScriptRunner(cast("Session", session), script, {}).job().command


class Told:
    agent_id = agent_name = project_id = "x"

    def __init__(self, task):
        self.task = task


def context_x(template):
    """The same template, with the value where a task has it."""
    if isinstance(template, str):
        return template.replace("{{x}}", "{{context.x}}").replace("{{ x }}", "{{ context.x }}")
    return [context_x(each) for each in template] if isinstance(template, list) else template


PLACES = {
    "run": lambda template, value: step_of({"run": template}, value).run,
    "context.command": lambda template, value: step_of({"context": {"command": template}}, value).context["command"],
    "acceptance": lambda template, value: step_of({"acceptance": [{"command": template}]}, value).said["acceptance"][0][
        "command"
    ],
    "script": scripted,
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    record = tmp_path / "record"
    record.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\" > arguments\n")
    record.chmod(0o755)
    return tmp_path


def ran(command, directory: Path, shell: str = "/bin/sh") -> list[str] | None:
    """The arguments that `record` got, if it was started."""
    argv = [shell, "-c", command] if isinstance(command, str) else command
    subprocess.run(argv, cwd=directory, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    arguments = directory / "arguments"
    return arguments.read_bytes().decode().split("\0")[:-1] if arguments.exists() else None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("template", "expected"), [pytest.param(*each, id=str(each[0])) for each in [*SHAPES.items(), *LISTS]]
)
def test_a_value_is_one_argument_or_refused_and_never_a_command(directory, template, expected, place) -> None:
    for value in VALUES:
        (directory / "arguments").unlink(missing_ok=True)
        try:
            command = PLACES[place](context_x(template), value)
        except (NoPlan, Unfit):
            assert re.search(command_templates.CONTROL, value) or value.startswith("-"), f"{value!r} is harmless"
            continue
        if place in ("run", "script"):  # the others give the same: running one of them is enough
            arguments = ran(command, directory)
            assert expected is None or arguments == expected(value), (command, value)
            assert not (directory / MARKER).exists(), (command, value)
        else:
            assert command == PLACES["run"](context_x(template), value)


@pytest.mark.parametrize("template", REFUSED, ids=str)
def test_a_place_that_would_make_a_command_of_a_value_is_refused_when_the_file_is_read(template) -> None:
    for section in ({"run": template}, {"context": {"command": template}}, {"acceptance": [{"command": template}]}):
        with pytest.raises(Mistakes, match=r"tasks\[0\]\.subtasks\[0\]\."):
            as_playbook(section if template != [] else {**section, "description": ""})
    with pytest.raises(Mistakes):
        script_format.parse(yaml_documents.Document({"tasks": [{"run": template}]}, "script.yaml"))
    if command_templates.problem(template) is not None:
        with pytest.raises(Unfit):  # also where nobody has checked it before
            command_templates.fill(template, lambda _: "value")


def test_a_command_without_a_placeholder_is_the_authors_own_and_stays_as_it_is() -> None:
    for command in ('echo "$(date)" `id` <<E\n$((1))\nE', "eval 'x'", ["sh", "-c", "echo $HOME"]):
        assert command_templates.problem(command) is None
        assert command_templates.fill(command, str) == command


def test_a_list_is_no_argument() -> None:
    with pytest.raises(NoPlan, match=r"\{\{context\.x\}\} is a list.* for_each"):
        step_of({"run": "ls {{context.x}}"}, ["a", "b"])


def test_numbers_and_truth_are_written_as_in_the_file() -> None:
    assert step_of({"run": "ls {{context.x}}"}, 100).run == "ls 100"
    assert step_of({"run": "ls {{context.x}}"}, True).run == "ls true"
    assert step_of({"run": "ls {{context.x}}"}, None).run == "ls ''"


def test_a_variable_of_the_plan_that_is_made_of_a_value_is_data_too(directory) -> None:
    written = {
        "tasks": [
            {
                "variables": {"path": "out/{{context.x}}"},
                "subtasks": [{"id": "a", "title": "A", "run": "./record {{path}}"}],
            }
        ]
    }
    plan = playbook_format.parse(yaml_documents.Document(written, "playbook.yaml"))
    [step] = plan_for(plan, {"title": "A", "context": {"x": f"$(touch {MARKER})"}})
    assert ran(step.run, directory) == [f"out/$(touch {MARKER})"]
    assert not (directory / MARKER).exists()


def test_a_value_that_cannot_be_filled_in_blocks_its_task_with_the_reason() -> None:
    reported = []

    class Reporting(Told):
        def report(self, result, summary):
            reported.append((result, summary))

    script = script_format.parse(yaml_documents.Document({"tasks": [{"run": "ls {{context.x}}"}]}, "script.yaml"))
    ScriptRunner(cast("Session", Reporting({"title": "A", "context": {"x": "--help"}})), script, {}).execute({})
    [(result, summary)] = reported
    assert result == "blocked"
    assert "begins with a hyphen" in summary


FRAGMENTS = [
    "'",
    '"',
    "\\",
    "$",
    "(",
    ")",
    "`",
    "#",
    "\n",
    ";",
    "<",
    ">",
    "&",
    "|",
    " ",
    " ",
    "a",
    "echo ",
    "=",
    "[",
    "~",
]
HOSTILE = [
    f"';touch {MARKER};'",
    f'";touch {MARKER};"',
    f"$(touch {MARKER})",
    f"`touch {MARKER}`",
    f"\\';touch {MARKER};#",
    f"\ntouch {MARKER}\n",
    f");touch {MARKER};(",
]


@pytest.mark.parametrize("shell", [each for each in ("/bin/sh", shutil.which("bash")) if each])
def test_whatever_template_is_accepted_runs_nothing_of_a_value(directory, shell) -> None:
    """Templates by chance: most of them are no sensible commands, and none may be a hole."""
    chance, tried = random.Random(f"templates {shell}"), 0
    while tried < 150:
        parts = [chance.choice(FRAGMENTS) for _ in range(chance.randint(1, 8))]
        parts.insert(chance.randint(1, len(parts)), "{{x}}")
        template = "echo " + "".join(parts)
        if command_templates.problem(template) is None and any(each in template for each in "'\"\\$`#<("):
            tried += 1
            value = chance.choice(HOSTILE)
            ran(command_templates.fill(template, {"x": value}.__getitem__), directory, shell)
            assert not (directory / MARKER).exists(), (template, value)


def test_a_command_that_no_program_could_be_started_with_is_a_mistake_of_its_file() -> None:
    assert command_templates.problem("x" * 100_000) is None
    for command in ("x" * 100_001, ["echo", "あ" * 40_000]):
        assert "a program takes 100000 in one argument" in (command_templates.problem(command) or "")


def test_what_the_machine_refuses_for_its_length_is_told_as_that(tmp_path: Path) -> None:
    words = ["echo", "x" * 200_000]
    assert shell.run(words, tmp_path, {"PATH": "/bin:/usr/bin"}).problem == (
        "The command is too long for this machine to start it. Put it into a file, and run that."
    )
    with pytest.raises(BadConfig, match=r"too long for this machine\. Shorten the agent"):
        processes.start(words, cwd=tmp_path, env={"PATH": "/bin:/usr/bin"}, output=1)

"""Files that agents may have written: none of them keeps, fills or crashes whoever reads it."""

import ast
import asyncio
import os
import socket
from pathlib import Path

import pytest

from toryo import untrusted_files
from toryo.coordinator import acceptance_checks, logs
from toryo.coordinator.logs import Log
from toryo.coordinator.program_output import Reading
from toryo.coordinator.sandbox import Walled
from toryo.coordinator.worktrees import Trouble
from toryo.formats import playbook_format, script_format, yaml_documents
from toryo.formats.yaml_documents import Mistakes
from toryo.output_redaction import Mask

SOURCE = Path(untrusted_files.__file__).parent

DIRECT = {
    "untrusted_files.py": {"os.open"},
    "coordinator/processes.py": {"read_text", "read_bytes"},  # /proc, which no agent writes
    "coordinator/escaped_processes.py": {"read_text"},  # the same
    "coordinator/loop.py": {"read_text"},  # the token file that a person names, if it is a regular file
    "coordinator/launch_journal.py": {"os.open"},  # its directory, to sync it
    "coordinator/sandbox.py": {"os.open"},  # what is mounted, without following links; nothing is read
    "coordinator/workspaces.py": {"open", "os.open"},  # writes what is generated, and reads that
    "coordinator/worktrees/creating.py": {"os.open"},  # a directory, to lock it
    "formats/yaml_documents.py": {"yaml.SafeLoader"},
    "cli/demo/__init__.py": {"open"},  # writes its own log
    "cli/manifest_export.py": {"os.open"},  # writes
    "cli/event_export.py": {"os.open"},  # the same
    "cli/artifacts.py": {"os.open"},  # the same, without following links
    "cli/simulate.py": {"open"},  # the export that a person names
    "cli/command_context.py": {"read_text"},  # the token file that a person names: it may be a pipe
    "cli/main.py": {"os.open"},  # /dev/null
    "cli/open_dashboard.py": {"os.open"},  # writes
    "cli/parent_watch.py": {"os.open"},  # /dev/null
    "cli/run/background.py": {"open"},  # its own log, in the data directory
    "coordinator/program_homes.py": {"open", "os.open"},  # step by step from a directory that is held; writes
    "coordinator/tree_setup.py": {"os.open"},  # writes copies below a directory that is held
    "coordinator/worktrees/clean_checkouts.py": {"read_bytes"},  # its own record, beside what agents write
    "coordinator/network_entry.py": {"os.open"},  # /dev/null
    "cli/agent_programs.py": {"open"},  # the first line of a program on PATH
}
"""Who opens files without `untrusted_files.py`, or reads YAML without `yaml_documents.py`, and why that is right."""


def opened_directly(path: Path) -> set[str]:
    """What a source file uses to read files or YAML by itself."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            found.add("open")
        if not isinstance(node, ast.Attribute):
            continue
        of = node.value.id if isinstance(node.value, ast.Name) else ""
        if of == "os" and node.attr == "open":
            found.add("os.open")
        elif of == "yaml" and ("load" in node.attr.lower() or node.attr in ("compose", "parse", "scan")):
            found.add(f"yaml.{node.attr}")
        elif node.attr in ("read_text", "read_bytes") or (node.attr == "open" and of in ("", "path", "file")):
            found.add(node.attr)
    return found


def test_files_and_yaml_are_read_in_one_place() -> None:
    sources = [path for folder in ("agents", "coordinator", "cli") for path in sorted((SOURCE / folder).rglob("*.py"))]
    assert len(sources) > 50
    found = {str(source.relative_to(SOURCE)): opened_directly(source) for source in sources}
    unexpected = {name: use - DIRECT.get(name, set()) for name, use in found.items() if use - DIRECT.get(name, set())}
    unexpected.pop("cli/init_teams.py", None)  # whether a word that was typed is a plain one
    assert not unexpected, "read it with untrusted_files.py, and YAML with yaml_documents.py"


@pytest.fixture
def odd(tmp_path: Path):
    """Things in a project that are no files to read, by name."""
    (tmp_path / "project").mkdir()
    directory = tmp_path / "project"
    os.mkfifo(directory / "pipe")
    (directory / "folder").mkdir()
    (directory / "circle").symlink_to("circle")
    (directory / "device").symlink_to("/dev/zero")
    (tmp_path / "secret").write_text("tasks: []")
    (directory / "out").symlink_to(tmp_path / "secret")
    (directory / "up").symlink_to(tmp_path)
    (directory / "large").write_bytes(b"#" * (untrusted_files.LARGEST + 1))
    (directory / "utf16").write_bytes("tasks: []".encode("utf-16"))
    (directory / "binary").write_bytes(b"\x7fELF\xff\x00")
    listening = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(directory)  # the path of a socket is short
    listening.bind("socket")
    os.chdir(here)
    yield directory
    listening.close()


ODD = ["pipe", "folder", "circle", "device", "socket", "out", "up/secret", "../secret", "large", "utf16", "binary"]


@pytest.mark.parametrize("name", [*ODD, "missing", "nul\0byte", "x" * 5000])
@pytest.mark.parametrize("given", [playbook_format.read, script_format.read])
def test_what_is_no_file_of_the_project_is_a_mistake_in_words(odd, given, name) -> None:
    with pytest.raises(Mistakes) as wrong:
        given(name, odd)
    assert len(str(wrong.value).splitlines()) == 1


def test_a_file_in_a_folder_of_the_project_and_a_link_within_it_are_read(tmp_path) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "a.yaml").write_bytes(b"\xef\xbb\xbftext")
    (tmp_path / "b.yaml").symlink_to("plans/a.yaml")
    assert untrusted_files.text(tmp_path / "plans/a.yaml", beneath=tmp_path) == untrusted_files.text(
        tmp_path / "b.yaml", beneath=tmp_path
    )
    assert untrusted_files.text(tmp_path / "b.yaml") == "text"


def test_a_link_that_is_put_there_between_two_looks_is_not_followed(odd, monkeypatch) -> None:
    monkeypatch.setattr(untrusted_files, "real", lambda path: path)
    for name in ("out", "up/secret"):
        with pytest.raises(OSError, match=r"ymbolic|directory"):
            untrusted_files.text(odd / name, beneath=odd)


ALIASES = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 9)]
)
MERGED = "\n".join(["a0: &a0 {x: 1}"] + [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 8)}]}}" for n in range(1, 9)])
COSTLY = {
    "aliases of aliases": ALIASES,
    "aliases of aliases in keys that are merged": MERGED,
    "a long text many times": f"a: &a {'x' * 300_000}\nb: [*a, *a, *a]",
    "a list in itself": "a: &a [*a]",
    "lists in lists": "[" * 5000,
    "rows in rows": "- " * 5000,
    "mappings in mappings": "{a: " * 5000,
    "keys of keys": "? " * 5000,
    "more characters than there may be": "#" * (untrusted_files.LARGEST + 1),
    "a number to the base of sixty": "a: 1" + ":1" * 10_000,
    "many digits": "a: " + "9" * 10_000,
    "a date that is none": "a: 2020-13-45",
    "a number that is none": "a: !!int x",
    "a truth that is none": "a: !!bool x",
    "a time that is none": "a: !!timestamp x",
    "a control character": "a: \x07",
    "a key that is a list": "{[a]: b}",
    "a tag": "a: !!python/object/apply:os.system [id]",
}


@pytest.mark.parametrize("text", COSTLY.values(), ids=COSTLY)
def test_yaml_that_costs_too_much_or_means_nothing_is_a_mistake_in_words(text) -> None:
    with pytest.raises(Mistakes) as wrong:
        yaml_documents.read(text, "toryo.yaml")
    assert str(wrong.value).startswith("toryo.yaml")
    assert len(wrong.value.found) == 1
    assert len(str(wrong.value)) < 400


def test_an_alias_stands_for_what_its_anchor_names() -> None:
    document = yaml_documents.read("a: &a {x: [1, 2]}\nb: *a\nc: {<<: *a, y: 3}", "toryo.yaml")
    assert document.data == {"a": {"x": [1, 2]}, "b": {"x": [1, 2]}, "c": {"x": [1, 2], "y": 3}}


def test_of_many_mistakes_the_first_are_told() -> None:
    text = "tasks:\n" + "".join(f"- {{z{n}: 1, subtasks: [{{id: a, title: b}}]}}\n" for n in range(200))
    with pytest.raises(Mistakes) as wrong:
        playbook_format.parse(yaml_documents.read(text, "playbook.yaml"))
    assert len(wrong.value.found) == yaml_documents.MOST_MISTAKES


def test_a_regular_expression_may_be_wrong_in_any_way() -> None:
    for pattern in ("(" * 900, "a{1,99999999999999999999}", "a" * 2000):
        when = f"{{variable: x, matches: '{pattern}'}}"
        text = f"tasks: [{{subtasks: [{{id: a, title: A, when: {when}}}]}}]"
        with pytest.raises(Mistakes):
            playbook_format.parse(yaml_documents.read(text, "playbook.yaml"))


def made(checked, directory, env):
    """What failed, as the server is told."""

    def wall(argv):
        return Walled(tuple(argv), env)

    def no_changes():
        raise Trouble("There is no worktree.")

    found = asyncio.run(acceptance_checks.evidence(checked, directory, wall, no_changes, Mask([])))
    return [{"check": each.check, "message": each.output} for each in found if each.failed]


UNFIT = ["pipe", "circle", "device", "socket", "out", "../secret", "missing", "nul\0", "x" * 5000]


@pytest.mark.parametrize("name", UNFIT)
def test_what_is_no_file_of_the_directory_is_no_result(odd, name) -> None:
    [failure] = made(({"file": name},), odd, {})
    assert name[:20].strip("\0") in failure["message"]
    assert made(({"file": "large"}, {"file": "folder"}), odd, {}) == []


@pytest.mark.parametrize("command", [5, [], ["\0"], "\0", {"a": 1}])
def test_a_check_that_cannot_be_made_fails_alone(tmp_path, command) -> None:
    checked = ({"command": command}, {"command": "true"}, {"command": "false"})
    first, last = made(checked, tmp_path, {"PATH": os.environ["PATH"]})
    assert (first["message"], last["message"]) != ("", "")
    assert last["check"] == "false"


def test_a_pipe_in_the_place_of_a_log_keeps_nobody(tmp_path) -> None:
    path, output = logs.create(tmp_path, "lch_1")
    os.write(output, b"before\n")
    log = Log(path, str)
    log.read()
    path.unlink()
    os.mkfifo(path)
    log.finish()
    assert log.tail == "before\n"
    assert logs.tail(path) == ""
    with pytest.raises(OSError, match=r"regular|device"):
        logs.create(tmp_path, "lch_1")
    os.close(output)


def test_a_log_is_not_written_through_a_link(tmp_path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "lch_1.log").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="ymbolic"):
        logs.create(tmp_path, "lch_1")


def test_a_line_that_is_nested_without_end_is_a_text() -> None:
    line = '{"a":' * 100_000
    assert Reading(lambda _: ()).line(line) == line + "\n"

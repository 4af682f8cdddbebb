"""What an agent may do, as people change it: options one by one, confirmed where they grant more, mistakes refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toryo
from toryo.cli import manifest
from toryo.cli.exit_codes import Misuse


@pytest.fixture
def reader(server: Toryo, project: str) -> Iterator[str]:
    """An agent of a model that may only look; put away afterwards: doctor asks what agents need."""
    name = f"{project}.reader"
    asked = ("agent", "add", name, "--role", "worker", "--provider", "codex", "--option", "permissions=read")
    server.json(*asked, "--project", project)
    yield name
    server.json("agent", "deactivate", name)


def options(server: Toryo, agent: str) -> dict[str, Any]:
    found: dict[str, Any] = server.json("agent", "show", agent)["agent"]["provider_options"]
    return found


def test_changing_one_option_keeps_the_others_and_says_what_was_changed(server: Toryo, reader: str) -> None:
    changed = server("agent", "edit", reader, "--options", "{account: second}")
    assert changed.out == f"updated {reader}; account: none → second\n"
    server("agent", "edit", reader, "--option", "labels=[gpu]", "--option", "account=")
    assert options(server, reader) == {"permissions": "read", "labels": ["gpu"]}


def test_an_option_that_is_a_text_is_taken_as_it_was_typed(server: Toryo, reader: str) -> None:
    given = ("--option", "account=007", "--option", "prompt=note: look first", "--option", "labels=[gpu]")
    assert server("agent", "edit", reader, *given).code == 0
    wanted = {"account": "007", "prompt": "note: look first", "labels": ["gpu"]}
    assert options(server, reader) == {"permissions": "read", **wanted}


def test_what_widens_rights_is_not_done_unasked(server: Toryo, reader: str, project: str) -> None:
    for asked in (
        ("agent", "edit", reader, "--option", "permissions=full"),
        ("agent", "edit", reader, "--option", "permissions="),
        ("agent", "edit", reader, "--options", "{account: second}", "--replace-options"),
        ("agent", "edit", reader, "--provider", "command", "--option", "permissions="),
        ("agent", "edit", reader, "--role", "owner"),
        ("project", "edit", project, "--set", "commands_from=managers"),
    ):
        ended = server(*asked)
        assert (ended.code, ended.out) == (2, ""), asked
        assert "grants more rights" in ended.err
        assert "--yes" in ended.err
    assert options(server, reader) == {"permissions": "read"}
    assert server("agent", "edit", reader, "--option", "permissions=full", "--yes").code == 0
    assert 'WIDENED="permissions: read → full"' in server("events").out


@pytest.mark.parametrize("provider", ["codex", "command"])
def test_a_provider_that_was_removed_is_not_set_again_unasked(server: Toryo, reader: str, provider: str) -> None:
    assert server("agent", "edit", reader, "--clear", "provider").code == 0
    option = "permissions=full" if provider == "codex" else "permissions="
    assert server("agent", "edit", reader, "--option", option).code == 0
    ended = server("agent", "edit", reader, "--provider", provider)
    assert (ended.code, ended.out) == (2, "")
    assert f"grants more rights: provider: none → {provider}" in ended.err
    assert server("agent", "edit", reader, "--provider", provider, "--yes").code == 0


def test_a_typing_error_is_refused_with_what_was_meant(server: Toryo, reader: str) -> None:
    typo = server("agent", "edit", reader, "--options", "{permissons: read}")
    assert typo.code == 4
    assert "Did you mean permissions?" in typo.err
    assert "Did you mean read?" in server("agent", "edit", reader, "--option", "permissions=raed").err
    assert options(server, reader) == {"permissions": "read"}


def test_an_unknown_provider_is_said_at_once(fresh_server: Toryo) -> None:
    """No Coordinator of other tests may have called this server: one that names no providers may have any."""
    fresh_server.json("project", "add", "bakery", "--id", "bakery", "--dir", str(fresh_server.home))
    fresh_server.json("agent", "add", "reader", "--role", "worker", "--provider", "codex", "--project", "bakery")
    ended = fresh_server("agent", "edit", "reader", "--provider", "cdoex", "--yes")
    assert "warning: No Coordinator has the provider cdoex" in ended.err
    assert "Did you mean codex?" in fresh_server("agent", "show", "reader").err


def test_what_holds_by_default_is_shown_as_such(server: Toryo, reader: str) -> None:
    server.json("agent", "edit", reader, "--option", "permissions=", "--yes")
    shown = server("agent", "show", reader).out
    assert "edit (default)" in shown


# --- toryo apply -----------------------------------------------------------------------------------------------------


def team(folder: Path, agent: str, said: str) -> Path:
    file = folder / "rights.yaml"
    file.write_text(f"agents:\n  - id: {agent}\n    role: worker\n    provider: codex\n    {said}\n")
    return file


def test_a_mistake_in_the_options_of_a_file_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(Misuse) as caught:
        manifest.read(team(tmp_path, "x", "provider_options: {labels: [gpu],\n      permissons: read}"))
    assert (
        "rights.yaml:6: agent x: Provider codex has no option permissons. Did you mean permissions?"
        in caught.value.what
    )
    with pytest.raises(Misuse, match="Did you mean edit"):
        manifest.read(team(tmp_path, "x", "provider_options: {permissions: Edit}"))


def test_the_options_of_a_file_are_all_that_an_agent_has_and_what_they_widen_is_asked(
    server: Toryo, reader: str, tmp_path: Path
) -> None:
    file = team(tmp_path, reader, "provider_options: {account: second}")
    refused = server("apply", str(file))
    assert refused.code == 2
    assert f"This file grants more rights: {reader}: permissions: read → edit" in refused.err
    assert options(server, reader) == {"permissions": "read"}
    [change] = server.json("apply", str(file), "--yes")["changes"]
    assert change["detail"] == "provider_options"
    assert change["changes"] == [
        "provider_options.permissions: read → none",
        "provider_options.account: none → second",
    ]
    assert options(server, reader) == {"account": "second"}
    assert server.json("apply", str(file))["changes"] == []


def test_a_new_agent_with_more_rights_than_usual_is_not_made_unasked(
    server: Toryo, project: str, tmp_path: Path
) -> None:
    """As adding, so by a file."""
    one = f"new-{project}"
    words = ("agent", "add", one, "--role", "worker", "--provider", "codex", "--option")
    for asked in ((*words, "permissions=full"), ("apply", str(team(tmp_path, one, OPTIONS)))):
        ended = server(*asked)
        assert (ended.code, ended.out) == (2, ""), asked
        assert "permissions: edit → full" in ended.err
        assert "--yes" in ended.err
        assert server("agent", "show", one).code == 4
    assert server("apply", str(team(tmp_path, one, OPTIONS)), "--yes").code == 0
    assert server("agent", "add", f"{one}-2", *words[3:], "permissions=edit").code == 0
    assert server("agent", "add", f"{one}-3", *words[3:], "permissions=full", "--yes").code == 0


def test_a_new_project_in_which_agents_may_do_more_than_usual_is_not_made_unasked(
    server: Toryo, project: str, tmp_path: Path
) -> None:
    """As an edit of one that exists; less than usual needs no question."""
    one, file = f"new-{project}", tmp_path / "toryo.yaml"

    def saying(settings: str) -> str:
        file.write_text(f"projects:\n  - {{id: {one}, name: {one}, directory: ., settings: {{{settings}}}}}\n")
        return str(file)

    wider = saying("commands_from: managers, merge_queue: automatic, budget_per_day: 5")
    add = ("project", "add", one, "--id", one, "--dir", str(tmp_path), "--set", "commands_from=managers")
    for asked, about in (
        (("apply", wider), f"This file grants more rights: {one}: "),
        (add, "This grants more rights: "),
    ):
        ended = server(*asked)
        assert (ended.code, ended.out) == (2, ""), asked
        assert f"{about}commands_from: people → managers" in ended.err
        assert ("merge_queue: off → automatic" in ended.err) is (asked != add)
        assert server("project", "show", one).code == 4
    assert server("apply", saying("approvals: all, budget_per_day: 5")).code == 0
    assert server(*add[:2], f"{one}-2", "--id", f"{one}-2", *add[5:], "--yes").code == 0


@pytest.mark.parametrize("kind", ["ai", "human"])
def test_a_new_owner_is_not_made_unasked(server: Toryo, project: str, tmp_path: Path, kind: str) -> None:
    one = f"{kind}-{project}"
    file = tmp_path / "toryo.yaml"
    file.write_text(f"agents:\n  - {{id: {one}, role: owner, kind: {kind}}}\n")
    for asked in (("agent", "add", one, "--role", "owner", "--kind", kind), ("apply", str(file))):
        ended = server(*asked)
        assert (ended.code, ended.out) == (2, ""), asked
        assert "role: none → owner" in ended.err
        assert "--yes" in ended.err
        assert server("agent", "show", one).code == 4
    assert server("apply", str(file), "--yes").code == 0
    assert server.json("apply", str(file))["changes"] == []


OPTIONS = "provider_options: {permissions: full}"


def test_a_file_that_says_nothing_of_options_leaves_them_alone(server: Toryo, reader: str, tmp_path: Path) -> None:
    assert server.json("apply", str(team(tmp_path, reader, "name: Reader")))["changes"]
    assert options(server, reader) == {"permissions": "read"}


def test_a_wrong_key_of_an_acceptance_check_is_named_with_the_right_one(tmp_path: Path) -> None:
    file = tmp_path / "toryo.yaml"
    file.write_text("tasks:\n  - project: p\n    title: t\n    acceptance:\n      - comand: make\n")
    with pytest.raises(Misuse) as caught:
        manifest.read(file)
    assert (
        "toryo.yaml:5: tasks[0].acceptance[0].comand: there is no such key; did you mean command?" in caught.value.what
    )

"""`toryo person …`, `toryo token person …` and the links of `toryo open`, `up` and `demo`: a way in for everybody."""

from __future__ import annotations

import io
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import Process, Toryo
from tests.cli.terminals import Terminal
from tests.environments import clean_environment
from toryo.cli import open_dashboard
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import Failure
from toryo.client import Client, server_discovery
from toryo.server import dashboard_files as toryo_pages

PASSWORD = "a few words in a row"
_numbers = count(1)


@pytest.fixture
def person(server: Toryo) -> str:
    """A member of no project."""
    name = f"person-{os.getpid()}-{next(_numbers)}"
    assert server("person", "add", name, "--role", "member", "--name", "Somebody").code == 0
    return name


def sign_in(server: Toryo, **given: str) -> httpx.Response:
    return httpx.post(f"{address(server)}/api/v1/sign-in", json=given, headers={"X-Toryo": "1"})


def address(server: Toryo) -> str:
    url: str = server.json("open", "--no-browser")["url"]
    return url.partition("/sign-in")[0]


def code(link: str) -> str:
    return link.strip().partition("/sign-in#")[2]


def test_who_is_not_there_is_called_a_person(server: Toryo) -> None:
    for words in (("person", "remove", "nobody"), ("person", "edit", "nobody", "--role", "viewer")):
        ended = server(*words)
        assert ended.code == 4
        assert "There is no person nobody. List them: toryo person list." in " ".join(ended.err.split())


def test_a_person_is_added_shown_changed_and_removed(server: Toryo, project: str) -> None:
    name = f"person-{os.getpid()}-{next(_numbers)}"
    added = server("person", "add", name, "--role", "viewer", "--project", project, "--email", f"{name}@example.org")
    assert added.out == f"created person {name}, viewer\n"
    assert f"toryo person link {name}" in added.err
    assert "role: viewer → member" in server("person", "edit", name, "--role", "member").err
    assert server("person", "edit", name, "--role", "member", "--yes").out == f"updated {name}\n"
    (line,) = [each for each in server("person", "list").out.splitlines() if each.startswith(name)]
    assert line.split()[2:] == ["member", "provider,", "as", f"{name}@example.org"]
    assert server("person", "remove", name).out == f"removed {name}\n"
    assert name not in server("person", "list").out


def test_a_role_must_be_said_and_be_one(server: Toryo) -> None:
    assert "--role" in server("person", "add", "x").err
    assert "'king' is not known." in server("person", "add", "x", "--role", "king").err
    assert server("person", "edit", "owner").code == 2


def test_a_password_from_stdin_opens_the_door(server: Toryo, person: str) -> None:
    ended = server("person", "password", person, typed=f"{PASSWORD}\n")
    assert (ended.code, ended.out) == (0, f"{person} has a new password\n")
    answer = sign_in(server, person_id=person, password=PASSWORD)
    assert answer.json()["login"] == "member"
    assert PASSWORD not in (server.home / "data" / "logs" / "server.log").read_text()


def test_a_password_that_is_missing_or_weak_is_refused_with_words(server: Toryo, person: str) -> None:
    assert "No password was given" in server("person", "password", person).err
    assert "10 to 1,000 characters" in server("person", "password", person, typed="short\n").err


def test_at_a_terminal_a_password_is_asked_for_twice_and_not_shown(server: Toryo, person: str) -> None:
    terminal = Terminal("person", "password", person, environment=server.environment, cwd=server.home)
    terminal.until("New password:")
    terminal.type(f"{PASSWORD}\n")
    terminal.until("Repeat the password")
    terminal.type(f"{PASSWORD}\n")
    terminal.until("has a new password")
    assert terminal.process.wait(100) == 0
    assert PASSWORD not in terminal.text
    assert sign_in(server, person_id=person, password=PASSWORD).status_code == 200


def test_a_link_for_somebody_signs_them_in_once(server: Toryo, person: str) -> None:
    link = server("person", "link", person).out
    assert sign_in(server, code=code(link)).json()["person_id"] == person
    assert sign_in(server, code=code(link)).status_code == 401


def test_the_servers_own_tokens_are_listed_and_replaced(server: Toryo) -> None:
    def listed() -> dict[str, str]:
        return {
            server_token["file"]: server_token["token_id"]
            for server_token in server.json("token", "server")["server_tokens"]
        }

    before = listed()
    assert "coordinator.token" in server("token", "rotate", "coordinator").out
    after = listed()
    assert after["owner.token"] == before["owner.token"]
    assert after["coordinator.token"] != before["coordinator.token"]
    assert "toryo token rotate" in server("token", "revoke", after["coordinator.token"]).err


def test_a_token_of_ones_own_is_a_credential_until_it_is_revoked(server: Toryo, person: str) -> None:
    made = server.json("token", "person", "add", "nightly", "--role", "viewer", "--days", "30", "--person", person)
    mine = ("--token", made["token"])
    assert server("project", "list", *mine).code == 0
    assert "Only an owner can call" in server("project", "add", "x", "--dir", "/", *mine).err
    listed = server("token", "person", "list", *mine).out
    assert re.search(r"pat_\w+ +viewer .* nightly", listed)
    assert made["token"] not in listed
    assert server("token", "person", "revoke", made["access_token"]["token_id"]).code == 0
    assert server("project", "list", *mine).code != 0


Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `toryo …` in a directory of the test's own."""
    started: list[Process] = []
    environment = {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / "data")}

    def begin(*words: str, **more: str) -> Process:
        started.append(Process(*words, environment={**environment, **more}, cwd=tmp_path))
        return started[-1]

    yield begin
    for each in started:
        each.end()


class Screen(io.StringIO):
    """stderr, as it is where somebody sits at a screen."""

    def isatty(self) -> bool:
        return True


def test_at_a_terminal_a_link_is_printed_that_signs_its_reader_in(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = start("server", "--port", "0").until("ready http://").removeprefix("ready ")
    monkeypatch.setattr(toryo_pages, "is_built", lambda: True)
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    open_dashboard.invite(Here(data_dir=tmp_path / "data", server=url), tmp_path / "data", open_it=False)
    link = screen.getvalue().partition("minutes:")[2].strip()
    answer = httpx.post(f"{url}/api/v1/sign-in", json={"code": code(link)}, headers={"X-Toryo": "1"})
    assert (answer.json()["person_id"], answer.json()["login"]) == ("owner", "owner")


@pytest.mark.parametrize(("built", "says"), [(True, "open --data-dir"), (False, "make web")])
def test_no_link_goes_into_a_log_or_leads_to_a_dashboard_that_is_not_there(
    built: bool, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(toryo_pages, "is_built", lambda: built)
    open_dashboard.invite(Here(data_dir=tmp_path), tmp_path, open_it=True)
    said = capsys.readouterr().err
    assert says in said
    assert "sign-in#" not in said


def test_where_no_dashboard_is_built_open_says_what_to_do_and_makes_no_link(
    server: Toryo, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = server.json("events", "--after", "0")["last"]
    found = server_discovery.find(data_dir=Path(server.environment["TORYO_DATA_DIR"]), environ={})
    here = Here(server=found.url, token=found.token)
    monkeypatch.setattr(Client, "has", lambda _client, path: path != "/index.html")
    with pytest.raises(Failure, match="no dashboard") as refused:
        open_dashboard.open_(here, no_browser=True)
    assert "make web" in refused.value.instruction
    assert server.json("events", "--after", "0")["last"] == before


def test_a_dashboard_that_is_built_while_the_server_runs_is_there_at_once(tmp_path: Path) -> None:
    pages = toryo_pages.Pages(tmp_path)
    assert not pages.built
    (tmp_path / "index.html").write_text("<p>Toryo")
    assert pages.built


def test_the_link_is_in_no_argument_of_a_process_but_in_a_page_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    started: list[list[str]] = []
    (tmp_path / "toryo-open-of-before.html").touch()
    with monkeypatch.context() as during:
        during.setenv("HOME", str(tmp_path))
        during.setattr(open_dashboard, "has_screen", lambda: True)
        during.setattr("webbrowser.open", opened.append)
        during.setattr("subprocess.Popen", lambda words, **_: started.append(words))
        open_dashboard.show("http://127.0.0.1:1/sign-in#c0de")
    (page,) = tmp_path.glob(open_dashboard.PAGE)
    assert opened == [page.as_uri()]
    assert page.stat().st_mode & 0o777 == 0o600
    assert 'url=http://127.0.0.1:1/sign-in#c0de"' in page.read_text()
    assert not any("c0de" in word for words in (opened, *started) for word in words)
    (remover,) = started
    remover[remover.index(str(open_dashboard.REMOVED_AFTER_SECONDS))] = "0"
    subprocess.run(remover, check=True)
    assert list(tmp_path.glob(open_dashboard.PAGE)) == []


def test_the_page_lies_where_browsers_in_a_snap_can_read_it_and_wsl_opens_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not open_dashboard.PAGE.startswith(".")
    monkeypatch.setattr("sys.stderr", Screen())
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WSL_DISTRO_NAME", raising=False)
    assert open_dashboard.has_screen()
    monkeypatch.setenv("WSL_DISTRO_NAME", "Ubuntu")
    assert not open_dashboard.has_screen()


def test_a_server_that_others_reach_does_not_start_before_somebody_can_sign_in(start: Start, tmp_path: Path) -> None:
    first = start("server", "--host", "0.0.0.0", "--port", "0")
    said = first.until("no one could sign in")
    for step in ("toryo person password owner", "TORYO_AUTH__OIDC_ISSUER", "behind a proxy", "TORYO_AUTH__PEOPLE"):
        assert step in said
    assert first.process.wait(100) == 2
    alone = start("server", "--port", "0")
    alone.until("ready http://")
    toryo = Toryo(tmp_path, {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / "data")})
    assert toryo("person", "password", "owner", typed=f"{PASSWORD}\n").code == 0
    alone.end()
    start("server", "--host", "0.0.0.0", "--port", "0").until("ready http://")


def test_where_tokens_shall_be_the_only_way_in_it_starts_at_once(start: Start) -> None:
    words = ("server", "--host", "0.0.0.0", "--port", "0")
    start(*words, TORYO_AUTH__PEOPLE="tokens").until("ready http://")

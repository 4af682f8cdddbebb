"""`toryo chat`: a person and agents as real processes; in a terminal, by lines, by one message and its answer."""

from __future__ import annotations

import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Process, Toryo
from tests.cli.terminals import TORYO, Terminal
from tests.environments import clean_environment
from toryo.cli import chat, waiting
from toryo.cli.chat_panel import Heard, Panel
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import ServerAway
from toryo.client import Client, Unreachable, server_discovery
from toryo.operations.calls.credential_verification import digest

MIA = """
script:
  answers:
    - {when: your name, answer: "I am {{agent_name}}."}
    - {when: red, answer: "before \\e[31m after"}
  otherwise: "Pardon?"
"""
NOBODY = "quiet"
"""An agent without a provider: nobody starts it."""

Open = Callable[..., Terminal]


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toryo]:
    """A server, a Coordinator, and in project `yard` mia, who answers, and one who never comes."""
    home = tmp_path_factory.mktemp("yard")
    environment = {**clean_environment(home), "TORYO_DATA_DIR": str(home / "data")}
    up = Process("up", "--port", "0", environment=environment, cwd=home)
    try:
        up.until("Toryo is up at http://")
        toryo = Toryo(home, environment)
        (home / "mia.yaml").write_text(MIA)
        (home / "yard").mkdir()
        toryo.json("project", "add", "yard", "--id", "yard", "--dir", str(home / "yard"))
        talks = ("--provider", "script", "--options", f"@{home}/mia.yaml")
        toryo.json("agent", "add", "mia", "--name", "Mia", "--role", "worker", *talks, "--project", "yard")
        toryo.json("agent", "add", NOBODY, "--role", "worker", "--project", "yard")
        yield toryo
    finally:
        up.end()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Open]:
    """Opens `toryo …` in a terminal; whatever is left is ended."""
    opened: list[Terminal] = []

    def run(toryo: Toryo, *words: str, program: tuple[str, ...] = TORYO) -> Terminal:
        opened.append(Terminal(*words, environment=toryo.environment, cwd=tmp_path, program=program))
        return opened[-1]

    yield run
    for each in opened:
        each.close()


def _happened(toryo: Toryo, *kinds: str, after: int = 0, agent: str = "mia") -> list[str]:
    """Which of these events there were, in order."""
    events = toryo.json("events", "--after", str(after), "--agent", agent)["events"]
    return [event["kind"] for event in events if event["kind"] in kinds]


def _now(toryo: Toryo) -> int:
    return int(toryo.json("events", "--after", "0")["last"])


def _until_nobody_is_there(toryo: Toryo) -> None:
    found = server_discovery.find(data_dir=toryo.environment["TORYO_DATA_DIR"], environ={})
    with Client(found.url, found.token) as client:
        last = client.rest("GET", "/status")["last_event"]
        while client.rest("GET", "/sessions")["sessions"]:
            last = client.rest("GET", "/events", params={"after": last, "wait_seconds": 20})["last"]


def _until_said(toryo: Toryo, content: str) -> None:
    until = time.monotonic() + 20
    while content not in _contents(toryo.json("chats", "show", NOBODY)["messages"]):
        assert time.monotonic() < until, "nothing was said"


def _contents(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages]


# --- one message -----------------------------------------------------------------------------------------------------


def test_a_message_gets_its_answer_and_the_panel_is_closed_behind_it(crew: Toryo) -> None:
    before = _now(crew)
    done = crew.json("chat", "mia", "--send", "What is your name?", "--wait", "30")
    assert (done["success"], done["project_id"], done["agent_id"]) == (True, "yard", "mia")
    assert (done["sent"]["content"], _contents(done["answers"])) == ("What is your name?", ["I am Mia."])
    assert _happened(crew, "chat.opened", "chat.closed", after=before) == ["chat.opened", "chat.closed"]


def test_people_see_the_answer_on_stdout_and_on_stderr_whether_the_agent_is_there(crew: Toryo) -> None:
    ended = crew("chat", "mia", "--send", "What is your name?", "--wait", "30")
    assert ended.code == 0
    assert ended.out.splitlines()[-1].endswith("  Mia: I am Mia.")
    assert "mia is connected" in ended.err


def test_without_waiting_the_message_is_sent_and_nothing_is_opened(crew: Toryo) -> None:
    before = _now(crew)
    done = crew.json("chat", NOBODY, "--send", "When you come: hello.")
    assert (done["sent"]["content"], done["answers"]) == ("When you come: hello.", [])
    assert done["status"]["reason"] == "not_managed"
    assert _happened(crew, "chat.opened", after=before, agent=NOBODY) == []


def test_who_is_not_answered_in_time_gets_1_and_where_to_look_and_the_message_stays(crew: Toryo) -> None:
    before = _now(crew)
    ended = crew("chat", NOBODY, "--send", "Is anybody there?", "--wait", "1", "--json")
    assert (ended.code, ended.json["success"], ended.json["answers"]) == (1, False, [])
    assert f"toryo why {NOBODY}" in ended.err
    assert "it is not started automatically" in ended.err
    assert ended.json["sent"]["message_id"] in {
        message["message_id"] for message in crew.json("chats", "show", NOBODY)["messages"]
    }
    assert _happened(crew, "chat.closed", after=before, agent=NOBODY) == ["chat.closed"]


def test_an_answer_to_an_earlier_question_is_none_to_this_one(crew: Toryo) -> None:
    crew.json("chat", "mia", "--send", "What is your name?", "--wait", "30")
    again = crew.json("chat", "mia", "--send", "Nice weather.", "--wait", "30")
    assert _contents(again["answers"]) == ["Pardon?"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("ghost", "--send", "hello"), "agentNotFound"),
        (("g host", "--send", "hello"), "agentNotFound"),
        (("ミア", "--send", "hello"), "agentNotFound"),
        (("mia/you", "--project", "yard", "--send", "hello"), "agentNotFound"),
        (("mia", "--project", "nowhere", "--send", "hello"), "projectNotFound"),
        (("mia", "--send", ""), "validationError"),
        (("mia", "--send", " \n "), "validationError"),
        (("mia", "--send", "x" * 4001), "tooLarge"),
        (("mia", "--send", "x" * 4001, "--wait", "30"), "tooLarge"),
        (("mia", "--send", "hello", "--as", "ghost"), "agentNotFound"),
        (("mia", "--send", "hello", "--as", NOBODY), "validationError"),
        (("owner", "--project", "yard", "--send", "hello"), "validationError"),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each)[:30],
)
def test_what_cannot_be_said_is_refused_with_4(crew: Toryo, words: tuple[str, ...], error: str) -> None:
    ended = crew("chat", *words, "--json")
    assert (ended.code, ended.json["error"]) == (4, error)


def test_a_viewer_reads_and_does_not_talk(crew: Toryo) -> None:
    token = "tpt_of_a_viewer"
    with sqlite3.connect(Path(crew.environment["TORYO_DATA_DIR"]) / "toryo.db") as database:
        database.execute(
            "insert into tokens (hash, kind, agent_id, login, name, created_at) values (?, ?, ?, ?, ?, 0)",
            (digest(token), "person", "owner", "viewer", "viewer"),
        )
    for wait in ((), ("--wait", "5")):
        ended = crew("chat", "mia", "--project", "yard", "--send", "hello", *wait, "--token", token, "--json")
        assert (ended.code, ended.json["error"]) == (4, "permissionDenied")


def test_what_is_no_text_is_a_mistake(crew: Toryo) -> None:
    ended = crew("chat", "mia", "--send", "caf\udce9")
    assert (ended.code, ended.out) == (2, "")
    assert "UTF-8" in ended.err


def test_the_project_is_asked_for_where_there_is_not_exactly_one(crew: Toryo, tmp_path: Path) -> None:
    crew.json("agent", "add", "nomad", "--role", "worker")
    nowhere = crew("chat", "nomad", "--send", "hello")
    assert (nowhere.code, "no project" in nowhere.err, "--project" in nowhere.err) == (2, True, True)
    crew.json("project", "add", "dock", "--id", "dock", "--dir", str(tmp_path))
    crew.json("agent", "edit", "nomad", "--project", "dock", "--project", "yard")
    twice = crew("chat", "nomad", "--send", "hello")
    assert (twice.code, "dock, yard" in twice.err, "--project" in twice.err) == (2, True, True)
    assert crew.json("chat", "nomad", "--project", "dock", "--send", "hello")["project_id"] == "dock"


def test_who_has_no_project_is_answered_with_those_there_are_and_oneself_with_who_else(crew: Toryo) -> None:
    crew.json("agent", "add", "rover", "--role", "worker")
    told = crew("chat", "rover", "--send", "hello").err
    assert "rover belongs to no project" in told and "(available: " in told and "yard" in told
    assert "You cannot chat with yourself (owner). Choose an agent" in crew("chat", "owner", "--send", "hello").err


def test_without_a_server_nobody_talks(nowhere: Toryo) -> None:
    for words in (("--send", "hello"), ("--send", "hello", "--wait", "5"), ()):
        ended = nowhere("chat", "mia", *words, typed="hello\n")
        assert (ended.code, ended.out) == (3, "")
        assert "toryo up" in ended.err


def test_what_would_steer_the_terminal_is_not_written_to_it(crew: Toryo) -> None:
    ended = crew("chat", "mia", "--send", "say it in red", "--wait", "30")
    shown = crew("chats", "show", "mia")
    listed = crew("chats")
    assert "before" in ended.out
    assert all("\x1b" not in each.out for each in (ended, shown, listed))


# --- lines on stdin --------------------------------------------------------------------------------------------------


def test_lines_are_said_one_by_one_and_answered_by_one_process(crew: Toryo) -> None:
    _until_nobody_is_there(crew)
    before = _now(crew)
    ended = crew("chat", "mia", "--json", typed="What is your name?\n\nNice weather.\nYour name, please")
    assert ended.code == 0
    said = [exchange["sent"]["content"] for exchange in ended.json["exchanges"]]
    assert said == ["What is your name?", "Nice weather.", "Your name, please"]
    answers = [_contents(exchange["answers"]) for exchange in ended.json["exchanges"]]
    assert answers == [["I am Mia."], ["Pardon?"], ["I am Mia."]]
    kinds = ("chat.opened", "session.started", "chat.closed")
    assert _happened(crew, *kinds, after=before) == list(kinds)


def test_the_first_line_that_is_not_answered_ends_it(crew: Toryo) -> None:
    ended = crew("chat", NOBODY, "--wait", "1", "--json", typed="one\ntwo\n")
    assert (ended.code, ended.json["sent"]["content"]) == (1, "one")
    assert "two" not in _contents(crew.json("chats", "show", NOBODY)["messages"])


def test_nothing_on_stdin_is_a_mistake_that_says_how_to_talk(crew: Toryo) -> None:
    ended = crew("chat", "mia", typed="\n")
    assert (ended.code, ended.out) == (2, "")
    assert "--send" in ended.err


# --- a terminal ------------------------------------------------------------------------------------------------------


def test_one_types_is_answered_and_leaves_and_the_agent_leaves_too(crew: Toryo, terminal: Open) -> None:
    _until_nobody_is_there(crew)
    before = _now(crew)
    thread = terminal(crew, "chat", "mia")
    thread.until("mia is connected")
    assert [session["purpose"] for session in crew.json("sessions")["sessions"]] == ["chat"]
    assert "mia in yard (chat): running" in crew("why", "mia").out
    thread.type("What is your name?\n")
    thread.until("Mia: I am Mia.")
    thread.type("\x04")
    assert thread.ended() == 0
    assert _happened(crew, "chat.opened", "chat.closed", after=before) == ["chat.opened", "chat.closed"]


def test_what_comes_is_written_above_what_is_being_typed(crew: Toryo, terminal: Open) -> None:
    thread = terminal(crew, "chat", "mia")
    thread.until("mia is connected")
    thread.type("What is yo")
    thread.until("What is yo")
    crew.json("chat", "mia", "--send", "Another terminal speaks.", "--wait", "30")
    thread.until("you: Another terminal speaks.")
    thread.until("Mia: Pardon?")
    thread.until("> What is yo")
    thread.type("ur name?\n")
    thread.until("Mia: I am Mia.")
    thread.type("\x04")
    assert thread.ended() == 0
    assert crew.json("chats", "show", "mia", "--limit", "2")["messages"][0]["content"] == "What is your name?"
    assert thread.text.rpartition("mia is connected")[2].count("What is your name?") == 1


@pytest.mark.parametrize("how", ["\x03", signal.SIGHUP, signal.SIGTERM])
def test_however_one_leaves_the_panel_is_closed_and_the_terminal_is_as_it_was(
    crew: Toryo, terminal: Open, how: str | signal.Signals
) -> None:
    before = _now(crew)
    thread = terminal(crew, "chat", "mia")
    thread.until("mia is connect")
    thread.until("> ")
    if isinstance(how, str):
        thread.type(how)
    else:
        thread.signal(how)
    assert thread.ended() == 130
    assert thread.mode() == thread.mode_at_first
    assert _happened(crew, "chat.opened", "chat.closed", after=before) == ["chat.opened", "chat.closed"]


WITH_A_PAUSE = """
import select, sys
from toryo.cli import chat_terminal, main

class Pausing(chat_terminal.Screen):
    lines_read = 0

    def _line(self):
        line = super()._line()
        self.lines_read += 1
        if self.lines_read == 1:
            print("-- nobody reads --", flush=True)
            assert select.select([sys.stdin], [], [], 30)[0]
            print("-- reads again --", flush=True)
        return line

chat_terminal.Screen = Pausing
main.main()
"""
"""`toryo …`, but after the first line nobody reads from the terminal until something is there to read."""


def test_the_end_typed_while_nobody_reads_ends_it_and_the_terminal_is_as_it_was(crew: Toryo, terminal: Open) -> None:
    thread = terminal(crew, "chat", NOBODY, program=("-c", WITH_A_PAUSE))
    thread.until("> ")
    thread.type("Good bye.\n")
    thread.until("-- nobody reads --")
    thread.type("\x04")
    assert thread.ended() == 0
    assert thread.mode() == thread.mode_at_first
    assert _contents(crew.json("chats", "show", NOBODY, "--limit", "1")["messages"]) == ["Good bye."]


def test_keys_typed_while_nobody_reads_are_shown_and_begin_the_next_line(crew: Toryo, terminal: Open) -> None:
    thread = terminal(crew, "chat", NOBODY, program=("-c", WITH_A_PAUSE))
    thread.until("> ")
    thread.type("One.\n")
    thread.until("-- nobody reads --")
    thread.type("Twx\x7f")
    thread.until("Twx")
    thread.until("-- reads again --")
    thread.until("> ")
    thread.type("y\x7fo.\n\x04")
    assert thread.ended() == 0
    assert _contents(crew.json("chats", "show", NOBODY, "--limit", "2")["messages"]) == ["One.", "Two."]


def test_what_refuses_a_talk_leaves_the_terminal_as_it_was(crew: Toryo, terminal: Open) -> None:
    thread = terminal(crew, "chat", "ghost", "--project", "yard")
    assert thread.ended() == 4
    assert "toryo: There is no agent ghost." in thread.text
    assert thread.mode() == thread.mode_at_first


def test_what_was_said_before_is_shown_and_what_is_new_is_marked_until_it_was_shown(
    crew: Toryo, terminal: Open
) -> None:
    crew.json("chat", "mia", "--send", "Nice weather.", "--wait", "30")
    crew.json("agent", "add", "ann", "--role", "worker", "--kind", "human", "--project", "yard")
    crew.json("chat", "owner", "--project", "yard", "--as", "ann", "--send", "Look at the roof.")
    assert (_unread(crew)["mia"], _unread(crew)["ann"]) == (0, 1)
    assert [row.split()[2] for row in crew("chats", "--project", "yard").out.splitlines() if row[:3] == "ann"] == ["1"]
    thread = terminal(crew, "chat", "ann")
    thread.until("-- 1 new --")
    thread.until("Look at the roof.")
    thread.until("ann is a person")
    thread.until("> ")
    thread.type("\x04")
    assert thread.ended() == 0
    assert _unread(crew)["ann"] == 0


def test_one_message_does_not_make_unseen_ones_seen(crew: Toryo) -> None:
    crew.json("agent", "add", "bea", "--role", "worker", "--kind", "human", "--project", "yard")
    crew.json("chat", "owner", "--project", "yard", "--as", "bea", "--send", "You have not read this.")
    assert crew("chat", "bea", "--send", "Hello?", "--wait", "1").code == 1
    assert _unread(crew)["bea"] == 1


def test_what_is_refused_is_said_and_one_goes_on(crew: Toryo, terminal: Open) -> None:
    thread = terminal(crew, "chat", "mia")
    thread.until("mia is connected")
    thread.type("x" * 4001 + "\n")
    thread.until("not sent: content ")
    thread.type("What is your name?\n")
    thread.until("Mia: I am Mia.")


@pytest.mark.parametrize("option", [("--json",), ("--wait", "5")], ids=" ".join)
def test_options_for_scripts_are_none_for_a_terminal(crew: Toryo, terminal: Open, option: tuple[str, ...]) -> None:
    thread = terminal(crew, "chat", "mia", *option)
    assert thread.ended() == 2
    assert "--send" in thread.text


# --- the server goes away --------------------------------------------------------------------------------------------


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts a server in one data directory, again and again."""
    environment = {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / "data")}
    started: list[Process] = []

    def run(**settings: str) -> Process:
        words = ("server", "--port", "0")
        started.append(Process(*words, environment={**environment, **settings}, cwd=tmp_path))
        started[-1].until("ready http://")
        return started[-1]

    yield run
    for each in started:
        each.end()


def _with_agent(tmp_path: Path) -> Toryo:
    toryo = Toryo(tmp_path, {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / "data")})
    toryo.json("project", "add", "yard", "--id", "yard", "--dir", str(tmp_path))
    toryo.json("agent", "add", NOBODY, "--role", "worker", "--project", "yard")
    return toryo


def test_a_thread_outlives_its_server_and_what_was_typed_meanwhile_is_said_once(
    start: Callable[..., Process], terminal: Open, tmp_path: Path
) -> None:
    server = start()
    toryo = _with_agent(tmp_path)
    thread = terminal(toryo, "chat", NOBODY)
    thread.until(f"{NOBODY} is not connected")
    server.end()
    thread.until("Cannot reach the server")
    thread.type("Said in between.\n")
    start()
    thread.until("The server is back.")
    thread.type("Said after.\n")
    thread.type("\x04")
    assert thread.ended() == 0
    assert _contents(toryo.json("chats", "show", NOBODY)["messages"]) == ["Said in between.", "Said after."]


@pytest.mark.deep  # it waits to the end
def test_who_waits_while_the_server_goes_away_for_good_gets_3(start: Callable[..., Process], tmp_path: Path) -> None:
    server = start()
    toryo = _with_agent(tmp_path)
    words = ("chat", NOBODY, "--send", "hello", "--wait", "8")
    waiting = Process(*words, environment=toryo.environment, cwd=tmp_path)
    try:
        waiting.until(f"{NOBODY} is not connected")
        _until_said(toryo, "hello")
        server.end()
        waiting.until("Cannot reach the server")
        assert waiting.process.wait(100) == 3
    finally:
        waiting.end()


def test_who_may_not_talk_any_more_is_told_so_and_the_thread_ends(
    start: Callable[..., Process], terminal: Open, tmp_path: Path
) -> None:
    start(TORYO_CHAT__VIEWER_LEASE="3")
    toryo = _with_agent(tmp_path)
    thread = terminal(toryo, "chat", NOBODY)
    thread.until(f"{NOBODY} is not connected: It has no provider")
    toryo.json("project", "archive", "yard")
    assert thread.ended() == 4
    assert "toryo: Project yard is archived, so no one would read the message." in thread.text


class Gone(Here):
    """The server goes away while a message is sent to it."""

    def send(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        if path.endswith("/messages"):
            raise Unreachable("nobody listens", sent=False)
        return super().send(method, path, body)


def test_who_waits_for_a_message_to_be_stored_is_told_and_ends_with_3(
    crew: Toryo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(waiting, "SILENT_SECONDS", 0.2)
    here = Gone(data_dir=Path(crew.environment["TORYO_DATA_DIR"]))
    with pytest.raises(ServerAway, match=r"has not answered within 1 s, and may not have stored the message") as ended:
        chat._once(here, Panel(here, "yard", NOBODY, None), "Hello", 1)
    assert ended.value.exit_code == 3
    assert f"toryo chats show {NOBODY}" in ended.value.instruction
    assert "The server does not answer, so the message is not stored yet. Waiting up to 1 s" in capsys.readouterr().err


class Losing(Here):
    """The answer to the first message is lost, after the server has stored it."""

    lost = 0

    def send(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        answer = super().send(method, path, body)
        if path.endswith("/messages") and not self.lost:
            self.lost += 1
            raise Unreachable("the answer was lost", sent=True)
        return answer


def test_what_arrived_though_its_answer_was_lost_is_not_said_twice(crew: Toryo) -> None:
    here = Losing(data_dir=Path(crew.environment["TORYO_DATA_DIR"]))
    content = f"Once. {next(_numbers)}"
    with Panel(here, "yard", NOBODY, None) as panel:
        panel.skip()
        first = panel.say(content, until=float("inf"))
        second = panel.say(content, until=float("inf"))
    assert here.lost == 1
    found = [message for message in crew.json("chats", "show", NOBODY)["messages"] if message["content"] == content]
    assert [each["message_id"] for each in found] == [first["message_id"], second["message_id"]]


class Slow(Here):
    """A look whose answer comes when it is let through."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self.looking, self.go = threading.Event(), threading.Event()

    def get(self, path: str, **params: Any) -> dict[str, Any]:
        if "wait_seconds" in params:
            self.looking.set()
            assert self.go.wait(100)
        return super().get(path, **params)


def test_a_look_that_ends_after_the_panel_was_left_opens_no_other_one(crew: Toryo) -> None:
    before = _now(crew)
    here = Slow(Path(crew.environment["TORYO_DATA_DIR"]))
    heard: list[Heard] = []
    with Panel(here, "yard", NOBODY, None) as panel:
        panel.skip()
        panel.say("something to hear")
        looking = threading.Thread(target=lambda: heard.extend(panel.looks()))
        looking.start()
        assert here.looking.wait(100)
    here.go.set()
    looking.join(100)
    assert (looking.is_alive(), heard) == (False, [])
    assert _happened(crew, "chat.opened", "chat.closed", after=before, agent=NOBODY) == ["chat.opened", "chat.closed"]


_numbers = count(1)


def _unread(toryo: Toryo) -> dict[str, int]:
    return {chat["agent_id"]: chat["unread"] for chat in toryo.json("chats")["chats"] if chat["agent_id"] != NOBODY}

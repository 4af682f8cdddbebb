"""What the Coordinator does with programs that do not behave: real processes that speak JSON lines, a scripted server.

Each program is the same small script of Python; what it does stands in the agent's options.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.client.fake_server import BOUND, Call, FakeServer
from tests.coordinator.orders import Orders
from tests.coordinator.test_loop import FAST, exit_of, launch, story, until
from toryo.coordinator import identity_lock, live_output, processes, stop_escalation
from toryo.coordinator.config import Config
from toryo.coordinator.failure_words import judge_model
from toryo.coordinator.loop import Coordinator
from toryo.coordinator.program_output import Called, Event, Said, Session, Troubled, Turned, Used
from toryo.coordinator.provider import FINE, Beside, Command, Provider, Setting
from toryo.provider_options import EVERY

PROGRAM = """
import json, os, signal, subprocess, sys, time
resumed, prompt = sys.argv[1], sys.argv[2]
def tell(**event):
    print(json.dumps(event), flush=True)
def ready(name="ready"):
    with open(name, "w") as file:
        file.write(str(os.getpid()))
def wait(name):
    with open(name) as file:
        return file.read()
def deaf():
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
def rest():
    while True:
        time.sleep(60)
"""


def speaks(event: dict[str, Any]) -> Iterable[Event]:
    """The stream of these tests: what a line names, it is."""
    kinds: dict[str, type[Any]] = {"said": Said, "used": Used, "session": Session, "troubled": Troubled, "call": Called}
    for name, kind in kinds.items():
        if name in event:
            value = event[name]
            yield kind(**value) if isinstance(value, dict) else kind(value)
    if "turn" in event:
        yield Turned()


def prepare(setting: Setting) -> Command:
    script = PROGRAM + str(setting.options["script"])
    words = (setting.resume or "", setting.prompt, str(setting.workspace))
    return Command((sys.executable, "-c", script, *words), files={"beside": ""})


FAKE = Provider("fake", prepare, judge_model, parse=speaks, resumes=True, options=EVERY)


def providers(**more: Any) -> dict[str, Provider]:
    return {"fake": replace(FAKE, **more)}


def fake(name: str, script: str, project: Path, **more: Any) -> dict[str, Any]:
    return launch(name, script, project, ai_type="fake", **more)


def gone(pid: int) -> bool:
    """No such process, or one that is only still to be buried."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    return True


def peak() -> int:
    """Bytes of memory that this process (with the Coordinator in it) has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# --- guards ----------------------------------------------------------------------------------------------------------


def test_a_model_that_answers_more_often_than_it_may_is_stopped(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(fake("a", "for n in range(6): tell(turn=n)\nrest()", project))
        assert exit_of(server, "a")["error"] == "turn_limit"

    story(server, tmp_path, tell, providers=providers(max_turns=5))


def test_a_model_that_answers_as_often_as_it_may_is_left_alone(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        os.mkfifo(project / "go")
        orders.give(fake("a", "for n in range(5): tell(turn=n)\ntell(said='five')\nwait('go')", project))
        until(lambda: orders.logs.get("lau_a") == "five\n")
        orders.give(fake("b", "for n in range(6): tell(turn=n)\nrest()", project))
        assert exit_of(server, "b")["error"] == "turn_limit"
        (project / "go").write_text("go")
        assert "error" not in exit_of(server, "a")

    story(server, tmp_path, tell, providers=providers(max_turns=5))


FLOOD = "deaf()\nline = b'x' * 99 + b'\\n'\nblock = line * 10_000\nwhile True: os.write(1, block); time.sleep(0.01)"
"""A hundred megabytes a second, and no signal but the last ends it."""


@pytest.mark.deep
def test_a_flood_is_stopped_within_seconds_with_little_memory_and_disk(
    server, orders, project, tmp_path, record_property
) -> None:
    largest = 20_000_000
    before, begun, biggest = peak(), time.monotonic(), [0]

    def tell(_: Coordinator) -> None:
        path = tmp_path / "data" / "logs" / "lau_a.log"
        orders.give(fake("a", FLOOD, project))

        def over() -> bool:
            with contextlib.suppress(OSError):
                biggest[0] = max(biggest[0], path.stat().st_size)
            return bool(server.seen("report_process_exit"))

        until(over)
        reported = exit_of(server, "a")
        assert (reported["error"], reported["signal"]) == ("output_flood", 9)

    story(server, tmp_path, tell, providers=providers(max_output=largest))
    took = time.monotonic() - begun
    left = sum(each.stat().st_size for each in (tmp_path / "data" / "logs").iterdir())
    record_property("flood", f"{took:.1f} s, {biggest[0]} bytes at most, {left} left, {peak() - before} of memory")
    assert took < 60
    assert left < 70_000_000
    assert biggest[0] < 600_000_000
    assert peak() - before < 150_000_000


@pytest.mark.deep
def test_a_flood_is_stopped_while_the_server_is_away(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        os.mkfifo(project / "go")
        orders.give(fake("a", "deaf()\nready()\nwait('go')\n" + FLOOD, project))
        until((project / "ready").exists)
        server.raw = (503, "text/html", b"away")
        (project / "go").write_text("go")
        pid = int((project / "ready").read_text())
        until(lambda: gone(pid))
        server.raw = None
        assert exit_of(server, "a")["error"] == "output_flood"

    story(server, tmp_path, tell, providers=providers(max_output=20_000_000))


def test_a_slow_server_keeps_no_other_output_from_being_looked_at(server, orders, project, tmp_path) -> None:
    """Passing on waits; guards do not."""
    release = threading.Event()

    def waits(_: Call) -> dict[str, Any]:
        assert release.wait(BOUND)
        return {"success": True, "next_offset": 0}

    def tell(_: Coordinator) -> None:
        server.on("append_log", waits)
        orders.give(fake("slow", "tell(said='words')\nrest()", project))
        server.waiting_for("append_log")
        orders.give(fake("a", "for n in range(6): tell(turn=n)\nrest()", project))
        try:
            assert exit_of(server, "a")["error"] == "turn_limit"
        finally:
            release.set()

    story(server, tmp_path, tell, providers=providers(max_turns=5))


NO = "tell(troubled=dict(words='Too many requests, retry after 77 s', status=429))"


def test_a_service_that_says_no_for_too_long_ends_the_process_with_the_time_it_named(
    server, orders, project, tmp_path
) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(fake("a", f"{NO}\nrest()", project))
        reported = exit_of(server, "a")
        assert reported["error"].startswith("rate_limited")
        assert reported["quota_reset_seconds"] == 77

    story(server, tmp_path, tell, providers=providers(patience=0.6))


@pytest.mark.deep
def test_one_good_sign_makes_patience_begin_anew(server, orders, project, tmp_path) -> None:
    """Trouble, and then a word of the model: it is left alone for as long as it likes."""

    def tell(_: Coordinator) -> None:
        os.mkfifo(project / "go")
        orders.give(fake("a", f"{NO}\ntell(said='it goes on')\nwait('go')", project))
        orders.give(fake("b", f"{NO}\nrest()", project))
        assert exit_of(server, "b")["error"].startswith("rate_limited")
        (project / "go").write_text("go")
        assert "error" not in exit_of(server, "a")

    story(server, tmp_path, tell, providers=providers(patience=1.2))


def test_what_time_does_not_mend_is_waited_for_a_moment_only(server, orders, project, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(stop_escalation, "IN_VAIN_FOR", 0.5)
    no = "tell(troubled=dict(words='authentication_failed', status=401, retry_seconds=35.0))"

    def tell(_: Coordinator) -> None:
        orders.give(fake("a", f"{no}\nrest()", project))
        reported = exit_of(server, "a")
        assert reported["error"] == "not_logged_in: authentication_failed"
        assert "quota_reset_seconds" not in reported

    story(server, tmp_path, tell, providers=providers(patience=600))


@pytest.mark.deep
def test_what_a_program_tells_in_another_file_counts_and_is_read_by_people(server, orders, project, tmp_path) -> None:
    """Qwen Code asks again in silence, and tells of it in its telemetry alone."""
    script = f"""
def tell_beside(**event):
    with open(sys.argv[3] + "/beside", "a") as file:
        file.write(json.dumps(event) + "\\n")
tell(said='Hello.')
{NO.replace("tell(", "tell_beside(")}
rest()
"""

    def tell(_: Coordinator) -> None:
        orders.give(fake("a", script, project))
        assert exit_of(server, "a")["error"].startswith("rate_limited")
        until(lambda: "! the model's service returned an error (429)" in orders.logs.get("lau_a", ""))

    beside = Beside("beside", lambda text: text.splitlines())
    story(server, tmp_path, tell, providers=providers(patience=0.6, beside=beside))


@pytest.mark.first(1)
@pytest.mark.parametrize("fault", [KeyError("retry_delay_ms"), RecursionError(), OverflowError()])
def test_a_program_that_tells_in_another_file_what_nobody_understands_is_still_kept_within_its_bounds(
    server, orders, project, tmp_path, fault
) -> None:
    def misread(_: str) -> list[str]:
        raise fault

    def tell(_: Coordinator) -> None:
        orders.give(fake("a", f"{NO}\nrest()", project))
        assert exit_of(server, "a")["error"].startswith("rate_limited")

    story(server, tmp_path, tell, providers=providers(patience=0.6, beside=Beside("beside", misread)))


@pytest.mark.deep
def test_a_file_beside_the_output_that_has_grown_without_end_is_not_read_any_more(
    server, orders, project, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(live_output, "MOST_BESIDE_IN_ALL", 3000)
    script = f"""
import os
os.truncate(sys.argv[3] + "/beside", 4000)
{NO}
rest()
"""
    looks: list[int] = []

    def heard(text: str) -> list[str]:
        looks.append(len(text))
        return []

    def tell(_: Coordinator) -> None:
        orders.give(fake("a", script, project))
        assert exit_of(server, "a")["error"].startswith("rate_limited")

    story(server, tmp_path, tell, providers=providers(patience=1.5, beside=Beside("beside", heard)))
    assert 4000 in looks
    assert looks[-1] == 4000, "no look followed"


GIVES_UP = """
def give_up(*_):
    tell(troubled=dict(words='error_during_execution', final=True))
    sys.exit(1)
signal.signal(signal.SIGINT, give_up)
"""


def test_what_a_program_says_when_it_is_interrupted_does_not_hide_why_it_was(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(fake("a", f"{GIVES_UP}{NO}\nrest()", project))
        reported = exit_of(server, "a")
        assert reported["error"].startswith("rate_limited")
        assert reported["quota_reset_seconds"] == 77

    story(server, tmp_path, tell, providers=providers(patience=0.6))


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("tell(session='s1')\ntell(troubled=dict(words='no', status=401))", "not_logged_in: no"),
        ("tell(session='s1')\ntell(troubled=dict(words='no', status=429))", "rate_limited: no"),
        ("tell(session='s1')\ntell(troubled=dict(words='no', status=500))", "service_failed: no"),
        ("tell(session='s1')\ntell(troubled=dict(words='fetch failed'))", "service_failed: fetch failed"),
        ("tell(session='s1')", "service_failed: Its model's service did not answer."),
        ("tell(session='s1')\ntell(said='Hello.')", "could_not_connect"),
        ("print('words of its own', flush=True)", "could_not_connect"),
    ],
)
def test_who_did_not_sign_in_in_time_ends_with_the_cause_that_its_output_tells(
    server, orders, project, tmp_path, script, failure
) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(fake("a", f"{GIVES_UP}{script}\nready()\nrest()", project))
        until((project / "ready").exists)
        orders.give(stop=[{"launch_id": "lau_a", "reason": "not_signed_in", "grace_seconds": 0}])
        assert exit_of(server, "a")["error"] == failure

    story(server, tmp_path, tell, providers=providers())


def test_what_runs_longer_than_it_may_is_stopped_and_named(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(fake("a", "deaf()\nrest()", project))
        assert exit_of(server, "a")["error"] == "timed_out"

    story(server, tmp_path, tell, providers=providers(time_limit=0.3))


# --- everything of it ends -------------------------------------------------------------------------------------------

FAMILY = """
pids = []
def child(detach, daemon):
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        pids.append(int(os.read(read, 20)))
        if daemon: os.waitpid(pid, 0)
        return
    if detach: os.setsid()
    if daemon and os.fork(): os._exit(0)
    deaf()
    os.write(write, str(os.getpid()).encode())
    rest()
child(False, False); child(True, False); child(True, True); child(False, True)
with open("pids.tmp", "w") as file: file.write(json.dumps([os.getpid(), *pids]))
os.rename("pids.tmp", "pids")
"""
"""Itself, a child in its group, one in a session of its own, a daemon, a daemon in its group; all deaf to signals."""


@pytest.mark.parametrize("then", ["deaf(); rest()", "rest()", "sys.exit(3)"])
def test_children_daemons_and_sessions_of_their_own_end_with_it(server, orders, project, tmp_path, then) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(fake("a", FAMILY + then, project))
        until((project / "pids").exists)
        orders.give(stop=[{"launch_id": "lau_a", "reason": "runaway", "grace_seconds": 0}])
        exit_of(server, "a")
        pids = json.loads((project / "pids").read_text())
        assert len(pids) == 5
        until(lambda: all(gone(pid) for pid in pids))

    story(server, tmp_path, tell)


@pytest.fixture(autouse=True)
def _with_fake_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stories of this file that name no providers have this one."""
    monkeypatch.setattr("tests.coordinator.test_loop.PROVIDERS", providers())


def test_a_child_that_nobody_buries_does_not_count_as_alive(server, orders, project, tmp_path) -> None:
    """A zombie in the group: its parent lives on in a group of its own and never waits for it."""
    script = """
if os.fork() == 0:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.setpgid(0, 0)
    with open("pid.tmp", "w") as file: file.write(str(os.getpid()))
    os.rename("pid.tmp", "pid")
    rest()
while not os.path.exists("pid"): time.sleep(0.01)
"""

    def tell(_: Coordinator) -> None:
        orders.give(fake("a", script, project))
        assert exit_of(server, "a")["exit_code"] == 0
        os.kill(int((project / "pid").read_text()), signal.SIGKILL)

    story(server, tmp_path, tell)


# --- the reminder ----------------------------------------------------------------------------------------------------

REMINDED = """
if not resumed:
    tell(session="s-1"); tell(used=dict(input_tokens=10, output_tokens=1)); tell(said="first run")
else:
    tell(used=dict(input_tokens=5, output_tokens=2)); tell(said="again: " + prompt)
    tell(said=os.environ["TORYO_LAUNCH_CREDENTIAL"][:6] + resumed)
    wait("go")
"""


def reminding(server: FakeServer) -> None:
    """The server answers every end that could be resumed with a reminder."""
    words = {"reminder": "You left without a report."}
    server.on(
        "report_process_exit", lambda call: {"success": True, **(words if call.arguments.get("resumable") else {})}
    )


def test_who_left_without_a_report_is_resumed_in_its_own_session_and_its_log_goes_on(
    server, orders, project, tmp_path
) -> None:
    def tell(coordinator: Coordinator) -> None:
        os.mkfifo(project / "go")
        reminding(server)
        orders.give(fake("a", REMINDED, project))
        first = server.waiting_for("report_process_exit")[0].arguments
        assert (first["resumable"], first["program_session"]["id"]) == (True, "s-1")
        assert (first["usage"]["input_tokens"], first["usage"]["output_tokens"]) == (10, 1)
        until(lambda: "tlc_a_" in orders.logs.get("lau_a", "") or "s-1" in orders.logs.get("lau_a", ""))
        assert coordinator.running == ["lau_a"]
        (project / "go").write_text("go")
        second = server.waiting_for("report_process_exit", 2)[1].arguments
        assert "resumable" not in second, "once per launch"
        assert (second["usage"]["input_tokens"], second["usage"]["output_tokens"]) == (15, 3)

    story(server, tmp_path, tell)
    said = [each for each in orders.logs["lau_a"].splitlines() if not each.startswith("Σ ")]
    assert said == ["first run", "again: You left without a report.", "tlc_a_s-1"]
    assert [path.name for path in (tmp_path / "data" / "logs").iterdir()] == ["lau_a.log"]


def test_its_slot_stays_its_own_while_it_is_reminded(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        os.mkfifo(project / "go")
        reminding(server)
        orders.give(fake("a", REMINDED, project))
        server.waiting_for("report_process_exit")
        until(lambda: "s-1" in orders.logs.get("lau_a", ""))
        offered = [(each.arguments["free_slots"], each.arguments["running"]) for each in server.seen("claim_starts")]
        assert offered[1:] == [(0, ["lau_a"])] * len(offered[1:])
        (project / "go").write_text("go")
        server.waiting_for("report_process_exit", 2)

    story(server, tmp_path, tell, limits=replace(FAST, max_concurrent=1))


@pytest.mark.deep
def test_a_coordinator_that_is_told_to_leave_meanwhile_gives_the_launch_back(server, orders, project, tmp_path) -> None:
    def tell(coordinator: Coordinator) -> None:
        def answer(call: Call) -> dict[str, Any]:
            coordinator.stop()
            return {"success": True, **({"reminder": "words"} if call.arguments.get("resumable") else {})}

        server.on("report_process_exit", answer)
        orders.give(fake("a", REMINDED, project))
        last = server.waiting_for("report_process_exit", 2)[1].arguments
        assert last["error"] == "coordinator_stopped"
        assert "resumable" not in last

    story(server, tmp_path, tell)


@pytest.mark.parametrize("script", ["tell(session='s'); sys.exit(1)", "tell(said='no session')"])
def test_a_failure_or_an_end_without_a_session_is_none_to_be_resumed(server, orders, project, tmp_path, script) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(fake("a", script, project))
        assert "resumable" not in exit_of(server, "a")

    story(server, tmp_path, tell)


def test_an_end_that_its_provider_knows_to_be_no_failure_is_told_as_none_whatever_its_exit_code(
    server, orders, project, tmp_path
) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(fake("a", "tell(session='s'); sys.exit(3)", project))
        told = exit_of(server, "a")
        assert (told["exit_code"], told["resumable"], told.get("error")) == (0, True, None)

    story(server, tmp_path, tell, providers=providers(judge=lambda end: FINE))


def test_what_a_program_told_elsewhere_before_it_was_reminded_is_counted_too(server, orders, project, tmp_path) -> None:
    """Its directory is a new one then."""

    def elsewhere(workspace: Path) -> Iterable[Event]:
        return [Used(input_tokens=int((workspace / "used").read_text()))]

    def with_file(setting: Setting) -> Command:
        return replace(prepare(setting), files={"used": "100" if setting.resume else "7"})

    def tell(_: Coordinator) -> None:
        reminding(server)
        orders.give(fake("a", "tell(session='s')", project))
        first, second = (each.arguments["usage"] for each in server.waiting_for("report_process_exit", 2))
        assert (first["input_tokens"], second["input_tokens"]) == (7, 107)

    story(server, tmp_path, tell, providers=providers(prepare=with_file, also=elsewhere))


# --- adopted ---------------------------------------------------------------------------------------------------------

LEAVES = """
import os, subprocess, sys
server, directory, mark, log, script, session = sys.argv[1:]
env = dict(os.environ, TORYO_LAUNCH_ID="lau_o", TORYO_SERVER_URL=server, AGENT_ID="o", TORYO_PROVIDER="fake",
           TORYO_COORDINATOR_ID=mark, TORYO_COORDINATOR_PID=str(os.getpid()), TORYO_PROGRAM_SESSION=session)
subprocess.Popen([sys.executable, "-c", script, "", ""], env=env, cwd=directory, start_new_session=True,
                 stdout=open(log, "ab"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
"""


def leaves(server: FakeServer, project: Path, tmp_path: Path, script: str, session: str = "") -> None:
    """A predecessor starts a program and is gone; the program lives on."""
    logs = tmp_path / "data" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    mark = identity_lock.mark("me", tmp_path / "data")
    argv = [sys.executable, "-c", LEAVES, server.url, str(project), mark, str(logs / "lau_o.log"), PROGRAM + script]
    subprocess.run([*argv, session], check=True)
    until((project / "ready").exists)


BEFORE = "tell(said='before'); tell(session='s-9'); tell(used=dict(input_tokens=10, output_tokens=1)); ready()\n"
AFTER = "tell(said='after'); tell(used=dict(input_tokens=5, output_tokens=2))\n"
ME = Config(coordinator_id="me", polling_interval=0.2, shutdown_grace_seconds=0.2)


def test_the_output_of_an_orphan_goes_on_where_the_server_has_it_and_its_use_is_counted_once(
    server, orders, project, tmp_path
) -> None:
    os.mkfifo(project / "go")
    leaves(server, project, tmp_path, BEFORE + "wait('go')\n" + AFTER)
    orders.logs["lau_o"] = "before\n"
    known = lambda call: {"success": True, "next_offset": appended(orders, call)}  # noqa: E731
    server.on("append_log", known)

    def tell(_: Coordinator) -> None:
        assert server.waiting_for("claim_starts")[0].arguments["running"] == ["lau_o"]
        (project / "go").write_text("go")
        reported = exit_of(server, "o")
        assert (reported["usage"]["input_tokens"], reported["usage"]["output_tokens"]) == (15, 3)
        assert "exit_code" not in reported and "error" not in reported, "nobody learns how it ended"
        assert "resumable" not in reported, "what its start needs is not known any more"

    story(server, tmp_path, tell, ME)
    assert orders.logs["lau_o"] == "before\nΣ 10 in · 1 out\nafter\nΣ 5 in · 2 out\n"


def appended(orders: Orders, call: Call) -> int:
    """As the server does it: what it has already is not stored again."""
    name, offset, text = (call.arguments[each] for each in ("launch_id", "offset", "text"))
    have = orders.logs.get(name, "")
    if offset <= len(have):
        orders.logs[name] = have + text[len(have) - offset :]
    return len(orders.logs[name])


def test_the_count_of_an_orphan_begins_where_the_session_it_went_on_with_had_stopped(
    server, orders, project, tmp_path
) -> None:
    os.mkfifo(project / "go")
    session = json.dumps({"id": "s-8", "totals": {"input_tokens": 1000, "output_tokens": 100}})
    total = "tell(used=dict(input_tokens=1015, output_tokens=103, total=True)); ready(); wait('go')"
    leaves(server, project, tmp_path, total, session)

    def tell(_: Coordinator) -> None:
        server.waiting_for("claim_starts")
        (project / "go").write_text("go")
        used = exit_of(server, "o")["usage"]
        assert (used["input_tokens"], used["output_tokens"]) == (15, 3)

    story(server, tmp_path, tell, ME, providers=providers(keeps_context=True))


def test_an_orphan_that_says_why_it_gave_up_is_believed(server, orders, project, tmp_path) -> None:
    os.mkfifo(project / "go")
    final = "tell(troubled=dict(words='quota will reset after 5m0s', status=429, final=True))"
    leaves(server, project, tmp_path, f"ready(); wait('go')\n{final}")

    def tell(_: Coordinator) -> None:
        server.waiting_for("claim_starts")
        (project / "go").write_text("go")
        reported = exit_of(server, "o")
        assert reported["error"].startswith("quota")
        assert reported["quota_reset_seconds"] == 300

    story(server, tmp_path, tell, ME)


@pytest.mark.parametrize(
    ("script", "bound", "failure"),
    [
        ("rest()", {"time_limit": 0.2}, "timed_out"),
        ("for n in range(9): tell(turn=n)\nrest()", {"max_turns": 5}, "turn_limit"),
    ],
)
def test_an_orphan_has_the_limits_of_those_that_were_started_here(
    server, orders, project, tmp_path, script, bound, failure
) -> None:
    leaves(server, project, tmp_path, f"ready()\n{script}")

    def tell(_: Coordinator) -> None:
        assert exit_of(server, "o")["error"] == failure

    story(server, tmp_path, tell, ME, providers=providers(**bound))


def test_how_long_a_process_has_been_there_is_known(project) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        age = processes.age(process.pid)
        assert age is not None and 0 <= age < 20
    finally:
        process.kill()
        process.wait()
    assert processes.age(process.pid) is None

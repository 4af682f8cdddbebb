"""The network of a real sandbox: a program reaches the service of its model and the server, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import os
import shutil
import socket
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import toryo
from tests.coordinator.test_sandbox import Yard, _executed, _until_ended
from tests.sandboxes import sandboxed
from tests.scenarios.programs import gone
from toryo.coordinator import acceptance_checks, logs, network_limits, network_proxy, sandbox
from toryo.coordinator.config import Config
from toryo.coordinator.launch_state import Stage
from toryo.coordinator.network_limits import Limits, Program
from toryo.coordinator.network_proxy import OF_PRIVATE
from toryo.coordinator.orders import CheckOrder, Launch
from toryo.coordinator.process_start import Starter
from toryo.coordinator.provider import Command
from toryo.coordinator.providers import BUILT_IN
from toryo.coordinator.sandbox import Mode, Sandbox
from toryo.coordinator.workspaces import Workspaces
from toryo.sandbox_network import Asked, Network, in_force

__all__ = ["sandboxed"]

pytestmark = pytest.mark.deep

NOBODY = 1024
"""A port at which no server listens."""
_GET = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=9).read().decode())"
GET = f"'{sys.executable}' -I -c '{_GET}'"
"""A program that goes by the proxy of its environment, and prints what it gets."""
RAW = (
    f"'{sys.executable}' -I -c 'import socket, sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5); "
    'print("reached", s.recv(9))\''
)


class _Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        text = f"{self.server.name} {self.path}".encode()  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def served(name: str, host: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    with http.server.ThreadingHTTPServer((host, port), _Answers) as made:
        made.name = name  # type: ignore[attr-defined]
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made.server_address[1]
        made.shutdown()


@pytest.fixture
def yard(tmp_path: Path, sandboxed: None) -> Yard:
    return Yard(tmp_path)


def limits(asked: Asked, server: int | None = None, **environ: str) -> Limits:
    url = f"http://127.0.0.1:{server}" if server is not None else ""
    found = network_limits.limits(
        in_force(asked), asked, Program("claude", environ, server_url=url, project_id="prj_1", agent_id="ann")
    )
    assert found is not None
    return found


def test_a_program_reaches_the_server_and_its_model_and_nothing_else_on_this_machine(yard: Yard) -> None:
    name = f"toryo-test-{os.getpid()}"
    abstract = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    abstract.bind(f"\0{name}")
    abstract.listen()
    knock = f'import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + "{name}"); print("reached")'
    with served("toryo") as server, served("model") as model, served("other") as other, abstract:
        words = [
            f"{GET} http://127.0.0.1:{server}/a",
            f"{GET} http://localhost:{model}/b",
            f"{RAW} 127.0.0.1 {other} || echo no-1",
            f"no_proxy= {GET} http://127.0.0.1:{other}/c || echo no-2",
            f"{GET} http://localtest.example:{other}/ || echo no-3",
            f"{GET} https://example.org/ || echo no-4",
            f"{RAW} 93.184.216.34 80 || echo no-5",
            f"'{sys.executable}' -I -c '{knock}' || echo no-6",
            "echo lo=$(grep -c : /proc/net/dev)",
        ]
        found = limits(Asked(Network.MODEL), server, ANTHROPIC_BASE_URL=f"http://127.0.0.1:{model}/v1")
        said = yard.run("; ".join(f"{{ {each}; }}" for each in words), limits=found)
    assert "toryo /a" in said, said
    assert "model /b" in said
    assert [f"no-{number}" for number in range(1, 7) if f"no-{number}" not in said] == []
    assert "reached" not in said
    assert f"· The sandbox refused: 127.0.0.1:{other}\n" in said
    assert "· The sandbox refused: example.org:443\n" in said
    assert "lo=1" in said, "its network has the loopback alone"


def test_no_agent_writes_the_files_that_are_executed_outside_of_its_sandbox(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(toryo.__file__).parent
    shutil.copytree(package, yard.project / "src" / "toryo", ignore=lambda *_: ["static"])
    monkeypatch.setattr(toryo, "__file__", str(yard.project / "src" / "toryo" / "__init__.py"))
    monkeypatch.setattr(sandbox, "_own_python", sandbox._own_python.__wrapped__)
    names = ("coordinator/network_proxy.py", "sandbox_network.py")
    files = [yard.project / "src" / "toryo" / each for each in names]
    words = ["echo free > src/select.py", "mv src away"]
    for file in files:
        words += [f"echo >> {file}", f"mv {file} away", f"echo > {file.parent}/new.py", f"mv {file.parent} away"]
        words += [f"mkdir -p {file.parent}/__pycache__/new"]
    said = yard.run("; ".join(f"{{ {each}; }} 2>/dev/null && echo 'done: {each}'" for each in words))
    assert [line for line in said.splitlines() if line.startswith("done:")] == ["done: echo free > src/select.py"]
    assert [
        each.read_bytes() == (package / each.relative_to(yard.project / "src/toryo")).read_bytes() for each in files
    ]


def test_the_file_that_is_executed_outside_is_read_only_even_if_its_directory_is_the_project(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = yard.project / "network_proxy.py"
    shutil.copy(network_proxy.FILE, file)
    monkeypatch.setattr(network_proxy, "FILE", file)
    monkeypatch.setattr(sandbox, "_own_python", sandbox._own_python.__wrapped__)
    words = (f"echo >> {file}", f"mv {file} away", f"rm -f {file}", "echo > other.py")
    said = yard.run("; ".join(f"{{ {each}; }} 2>/dev/null && echo 'done: {each}'" for each in words))
    assert said.splitlines() == ["done: echo > other.py"]


def test_a_name_that_leads_to_this_machine_is_refused_although_the_project_lists_it(yard: Yard) -> None:
    with served("other") as other:
        found = limits(
            Asked(Network.ALLOWLIST, (f"{socket.gethostname().lower()}:{other}", f"localhost.:{other}")), NOBODY
        )
        script = f"no_proxy= {GET} http://{socket.gethostname().lower()}:{other}/ || echo no"
        said = yard.run(script, limits=found)
    assert f"{other}{OF_PRIVATE}\n" in said
    assert "other /" not in said
    assert "no\n" in said


def test_an_address_that_the_project_lists_is_reached_at_its_port(yard: Yard) -> None:
    with served("database") as listed, served("other") as other:
        found = limits(Asked(Network.ALLOWLIST, (f"127.0.0.1:{listed}",)))
        said = yard.run(f"{GET} http://127.0.0.1:{listed}/; {GET} http://127.0.0.1:{other}/ || echo no", limits=found)
    assert "database /" in said
    assert "no\n" in said


def test_two_addresses_of_the_loopback_lead_to_their_own_services_at_one_port(yard: Yard) -> None:
    with contextlib.ExitStack() as services:
        port = services.enter_context(served("first"))
        services.enter_context(served("second", "127.0.0.2", port))
        found = limits(Asked(Network.ALLOWLIST, (f"127.0.0.1:{port}", f"127.0.0.2:{port}")))
        said = yard.run(f"{GET} http://127.0.0.1:{port}/a; {GET} http://127.0.0.2:{port}/b", limits=found)
    assert "first /a" in said
    assert "second /b" in said


SERVES = (
    f"'{sys.executable}' -I -c 'import http.server, sys; "
    's = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler); '
    'open(sys.argv[2], "w").close(); s.serve_forever()\' {port} {ready}'
)


def test_a_port_of_the_program_is_reachable_while_it_runs_and_on_another_port_if_it_is_taken(yard: Yard) -> None:
    (yard.project / "index.html").write_text("for a person")
    os.mkfifo(yard.project / "ready")
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as free:
        ports = tuple(each.getsockname()[1] for each in (taken, free))
        free.close()
        process = _launched(yard, Asked(Network.MODEL, ports=ports), SERVES.format(port=ports[0], ready="ready"))
        (yard.project / "ready").read_text()
        told = _told(yard)
        shown = {int(line.split()[2]): line.split()[-1] for line in told.splitlines() if line.startswith("· Port")}
        assert shown[ports[1]] == f"http://127.0.0.1:{ports[1]}"
        assert shown[ports[0]] != f"http://127.0.0.1:{ports[0]}"
        served = network_limits.served_ports(network_limits.refusals_of(yard.data, "lau_1"))
        assert {int(port): f"http://127.0.0.1:{at}" for port, at in served.items()} == shown
        with urllib.request.urlopen(shown[ports[0]], timeout=20) as answer:
            assert answer.read() == b"for a person"
        with pytest.raises(OSError, match=r"reset|closed|aborted|refused"):
            urllib.request.urlopen(shown[ports[1]], timeout=20)
        _until_ended(process, lambda: process.signal_group(Stage.KILL))
        with pytest.raises(OSError, match=r"refused|reset"):  # the proxy is killed with the program, not before it
            urllib.request.urlopen(shown[ports[0]], timeout=20)


def test_the_proxy_ends_with_its_launch_and_the_end_names_what_was_refused(yard: Yard) -> None:
    process = _launched(yard, Asked(Network.MODEL), f"{GET} https://evil.example/ 2>&1 | tail -1; cat")
    group = process.pid
    _until_ended(process, lambda: None)
    assert "· The sandbox refused: evil.example:443\n" in _told(yard)
    lines = network_limits.refused_hosts(network_limits.refusals_of(yard.data, "lau_1")).lines
    assert lines[:2] == ["· The sandbox refused these hosts:", "·   evil.example:443"]
    assert "toryo project edit prj_1 --set network=allowlist --set network_hosts='[\"evil.example\"]'" in lines[-1]
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            assert int(fields[2]) != group or gone(int(path.parent.name), 20)


def test_the_first_launch_of_a_machine_makes_the_directory_of_its_logs(yard: Yard) -> None:
    yard.data = yard.data / "new" / "logs"
    _until_ended(_launched(yard, Asked(Network.MODEL), "echo there"), lambda: None)
    assert _told(yard) == "there\n"


def test_set_up_commands_reach_their_own_list_and_the_checks_what_the_project_lists(yard: Yard) -> None:
    with served("registry") as registry, served("listed") as listed:
        network = {"network": "allowlist", "hosts": [f"127.0.0.1:{listed}"], "setup_hosts": [f"127.0.0.1:{registry}"]}
        order = CheckOrder("chk_1", str(yard.project), (), "ann", "prj_1", ai_type="claude", network=network)
        script = f"{GET} http://127.0.0.1:{registry}/; {GET} http://127.0.0.1:{listed}/; true"
        said = {}
        for setup in (True, False):
            wall = _starter(yard).check_walled(order, yard.project, setup=setup)
            said[setup] = _executed(wall(("/bin/sh", "-c", script))).stdout
    assert "registry /" in said[True]
    assert "listed /" not in said[True]
    assert "registry /" not in said[False]
    assert "listed /" in said[False]


def test_a_check_and_a_set_up_command_say_which_hosts_their_network_refused(yard: Yard) -> None:
    network = {"network": "model", "setup_hosts": ["a.example"]}
    order = CheckOrder("chk_1", str(yard.project), (), "ann", "prj_1", ai_type="claude", network=network)
    before = set(Path(tempfile.gettempdir()).glob("toryo-check-*"))
    script = f"{GET} https://registry.example/ 2>/dev/null || echo misleading; exit 1"
    for setup, setting in ((False, "network_hosts"), (True, "setup_network")):
        wall = _starter(yard).check_walled(order, yard.project, setup=setup)
        run = asyncio.run(acceptance_checks.execute(script, 60, yard.project, wall))
        lines = run.output.splitlines()
        assert "misleading" in lines
        assert lines[-3:-1] == ["· The sandbox refused these hosts:", "·   registry.example:443"]
        assert f"--set {setting}=" in lines[-1]
    assert set(Path(tempfile.gettempdir()).glob("toryo-check-*")) <= before


def test_a_program_that_is_asked_to_leave_still_has_its_proxy_until_it_has_left(yard: Yard) -> None:
    os.mkfifo(yard.project / "ready")
    with served("toryo") as server:
        script = (
            f"bye() {{ {GET} http://127.0.0.1:{server}/bye; exit 0; }}; trap bye TERM; echo > ready; sleep 60 & wait"
        )
        process = _launched(yard, Asked(Network.MODEL), script, server)
        (yard.project / "ready").read_text()
        _until_ended(process, lambda: process.signal_group(Stage.TERMINATE))
    assert "toryo /bye" in _told(yard)
    assert process.exit_code == 0


def _starter(yard: Yard, server: int = NOBODY, script: str = "true") -> Starter:
    providers = {
        **BUILT_IN,
        "claude": replace(BUILT_IN["claude"], prepare=lambda _: Command(("/bin/sh", "-c", script))),
    }
    folder, spaces = yard.data / "worktrees", Workspaces(yard.data)
    url, asked = f"http://127.0.0.1:{server}", Sandbox(Mode.BWRAP, hidden=[yard.data], inherited=os.environ)
    return Starter(Config(), providers, url, "m", yard.data, spaces, folder, yard.environ, sandbox=asked)


def _launched(yard: Yard, asked: Asked, script: str, server: int = NOBODY) -> Any:
    network = {"network": asked.network.value, "hosts": list(asked.hosts), "ports": list(asked.ports)}
    launch = Launch("lau_1", "ann", "prj_1", ai_type="claude", working_directory=str(yard.project), network=network)
    return _starter(yard, server, script).start(launch).process


def _told(yard: Yard) -> str:
    return logs.path_of(yard.data, "lau_1").read_text()

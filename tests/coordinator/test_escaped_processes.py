"""What agents leave behind without a trace, in a Coordinator's process of its own: it would end this one's children."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from toryo.coordinator import escaped_processes

BOUND = 60

pytestmark = pytest.mark.skipif(not escaped_processes._list().exists(), reason="this system tells of no children")


def told(script: str, directory: Path) -> list[str]:
    """What a process of its own prints that has `start`, `hidden`, `gone` and `escaped_processes`."""
    head = """
        import os, signal, subprocess, sys, time
        from pathlib import Path
        from toryo.coordinator import escaped_processes, processes
        assert escaped_processes.adopt()
        here = Path.cwd()

        def start(name, script):
            process = processes.start(["sh", "-c", script], cwd=here, env=dict(os.environ), output=1)
            return process

        def ended(process):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            process._reap()

        HIDDEN = "(env -i /bin/sh -c 'setsid sleep 300 & echo $! > {}' &); while ! test -s {}; do sleep 0.01; done"

        def pid_of(name):
            while not (here / name).exists() or not (here / name).read_text().strip():
                time.sleep(0.01)
            return int((here / name).read_text())

        def gone(pid):
            # it may be a child that was killed and is not buried yet
            try:
                os.kill(pid, 0)
                return os.waitpid(pid, os.WNOHANG if alive_expected else 0)[0] == pid
            except (ProcessLookupError, ChildProcessError):
                return True

        alive_expected = True
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(script)],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=BOUND,
        env=dict(os.environ),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_process_without_a_trace_ends_with_the_launch_that_left_it(tmp_path) -> None:
    script = """
        launch = start("a", HIDDEN.format("a.pid", "a.pid"))
        pid = pid_of("a.pid")
        ended(launch)
        assert not gone(pid)
        escaped_processes.end(processes.AT_WORK)
        alive_expected = False
        print(gone(pid))
    """
    assert told(script, tmp_path) == ["True"]


def test_what_another_launch_may_have_started_lives_until_that_one_has_ended(tmp_path) -> None:
    script = """
        other = start("b", "exec sleep 300")
        launch = start("a", HIDDEN.format("a.pid", "a.pid"))
        pid = pid_of("a.pid")
        ended(launch)
        escaped_processes.end(processes.AT_WORK)
        print(gone(pid))
        os.kill(other.pid, signal.SIGKILL)
        ended(other)
        escaped_processes.end(processes.AT_WORK)
        alive_expected = False
        print(gone(pid))
    """
    assert told(script, tmp_path) == ["False", "True"]


def test_what_began_before_the_launches_at_work_and_their_own_leaders(tmp_path) -> None:
    script = """
        launch = start("a", HIDDEN.format("a.pid", "a.pid"))
        pid = pid_of("a.pid")
        ended(launch)
        time.sleep(0.05)  # the clock of processes has hundredths of a second
        later = start("b", "exec sleep 300")
        escaped_processes.end(processes.AT_WORK)
        print(later.group_alive)
        alive_expected = False
        print(gone(pid))
        os.kill(later.pid, signal.SIGKILL)
    """
    assert told(script, tmp_path) == ["True", "True"]


def test_what_other_threads_have_started_is_left_alone(tmp_path) -> None:
    script = """
        import threading
        made, done = threading.Event(), threading.Event()

        def git():
            global child
            child = subprocess.Popen(["sleep", "300"], start_new_session=True)
            made.set()
            done.wait(60)

        thread = threading.Thread(target=git)
        thread.start()
        made.wait(60)
        escaped_processes.end(processes.AT_WORK)
        print(child.poll())
        child.kill()
        done.set()
    """
    assert told(script, tmp_path) == ["None"]


def test_what_has_ended_by_itself_is_buried(tmp_path) -> None:
    script = """
        launch = start("a", "(env -i setsid true &)")
        ended(launch)
        while (left := escaped_processes._children()):
            escaped_processes.end(processes.AT_WORK)
            time.sleep(0.01)
        print(left)
    """
    assert told(script, tmp_path) == ["[]"]

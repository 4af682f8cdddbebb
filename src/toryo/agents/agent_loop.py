"""What all runners share: sign in, follow next actions, handle refusals, and stop when asked to.

A runner is a program and a normal MCP client. Each kind of runner has its own module with a table from the action's
name to a function.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NoReturn

from toryo import backoff
from toryo.agents.env_vars import COORDINATOR_PID, CREDENTIAL, PASSKEY, UNREPORTED, own_python_path
from toryo.client import Client, ProtocolError, RefusalError, Unreachable
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.output_redaction import Mask

Answer = dict[str, Any]
Handler = Callable[[Answer], Answer]
"""Does what a next action says; its answer (with or without `next`) leads on."""

DONE, CRASHED, NO_SERVER, NO_ADMISSION, TOLD_TO_LEAVE = 0, 1, 69, 77, 130
PATIENCE = 60.0
"""Seconds a server may be away before a runner gives up; its session lives longer than that."""
TOLD = frozenset({"summary", "reason", "progress"})
"""Arguments that repeat what some program printed."""
RESULTS = frozenset({"report_completed", "submit_review", "update_task_status"})
"""Tools that say how work has ended. Work is not thrown away because nobody listens: they wait for the server for as
long as it takes, and what they say is kept on disk until it is taken."""
ONCE = frozenset({"get_pending_messages", "respond_chat", "send_message", "request_task"})
"""Tools that are not called again when an answer was lost: the messages would be said, or taken as read, twice."""
SAME_AT_MOST = 3
"""How many times a runner follows the same instruction without any change before it ends."""
REPORTS_AT_MOST = 15
"""Tries of a report that is refused because its acceptance checks still run (each try waits at the server)."""

_VERDICTS = {"success": "approve", "failed": "request_changes"}

LEAVING = (signal.SIGINT, signal.SIGTERM)


class ToldToLeave(BaseException):
    """A signal: raised wherever the runner is, so that nothing holds it up."""


class Over(Exception):
    """The session is over; the process ends."""


class Session:
    """Signed in with the launch credential of this process (or, without one, by id and passkey)."""

    def __init__(self, client: Client, environ: Mapping[str, str], provider: str, once: Client | None = None) -> None:
        self._client = client
        self._once = once or client
        self._environ = environ
        self._provider = provider
        self._mask = Mask([environ.get(CREDENTIAL), environ.get(PASSKEY)])
        self._token: str | None = None
        self._reported = False
        self._refused_for_good: Answer | None = None
        """The refusal that told it to leave: the project was paused, or the task was taken away."""
        self.task: Answer = {}
        self.purpose = "task"
        self.agent_id = environ.get("AGENT_ID", "")
        self.agent_name = ""
        self.project_id = environ.get("PROJECT_ID", "")
        self.progress = 0
        """How much has been dealt with; the guard against repeats sees by it that a chat gets on."""

    def sign_in(self) -> Answer:
        answer = self._authenticate()
        self.purpose = str(answer.get("purpose") or self.purpose)
        self.agent_id = str(answer.get("agent_id") or self.agent_id)
        self.agent_name = str(answer.get("agent_name") or self.agent_id)
        self.project_id = str(answer.get("project_id") or self.project_id)
        return answer

    def _authenticate(self) -> Answer:
        if self._environ.get(CREDENTIAL):
            return self._client.call("authenticate")
        answer = self._client.call(
            "authenticate",
            agent_id=self._environ.get("AGENT_ID", ""),
            passkey=self._environ.get(PASSKEY, ""),
            **({"project_id": self._environ["PROJECT_ID"]} if self._environ.get("PROJECT_ID") else {}),
        )
        self._token = answer.get("session_token")
        return answer

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Delays a signal to stop until the work that has begun is done."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, LEAVING)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def pause(self, seconds: float) -> None:
        """Pauses; a signal to stop ends the pause."""
        before = signal.pthread_sigmask(signal.SIG_UNBLOCK, LEAVING)
        try:
            time.sleep(seconds)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def progressed(self) -> None:
        self.progress += 1

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Raises RefusalError; everything else that goes wrong ends the runner. What others read holds no secret."""
        arguments = {name: self._mask(argument) if name in TOLD else argument for name, argument in arguments.items()}
        if self._token:
            arguments["session_token"] = self._token
        if tool in RESULTS and arguments.get("status") != "in_progress":
            return self._handed_in(tool, arguments)
        client = self._once if tool in ONCE else self._client
        return client.call(tool, **arguments)

    def _handed_in(self, tool: str, arguments: Answer) -> Answer:
        """Whatever the server answers, it has heard the result; where it cannot, the Coordinator says it later."""
        kept = Path(self._environ[UNREPORTED]) if self._environ.get(UNREPORTED) else None
        if kept is not None:
            said = {name: value for name, value in arguments.items() if name != "session_token"}
            _write(kept, json.dumps({"tool": tool, "arguments": said}))
        patience, self._client.patience_seconds = self._client.patience_seconds, float("inf")
        try:
            answer = self._client.call(tool, **arguments)
        except RefusalError as no:
            if kept is not None and no.code not in ("unavailable", "internalError"):
                kept.unlink(missing_ok=True)
            raise
        finally:
            self._client.patience_seconds = patience
        if kept is not None:
            kept.unlink(missing_ok=True)
        return answer

    def try_to(self, tool: str, **arguments: Any) -> Answer:
        """As `call`, but a refusal is printed and is an answer like any other (`success` is false)."""
        try:
            return self.call(tool, **arguments)
        except RefusalError as no:
            say_refused(no)
            answer = {**no.data, "success": False, "error": no.code, "message": no.message}
            if answer.get("action") == "exit":
                self._refused_for_good = answer
            return answer

    def report_model(self, _: Answer) -> Answer:
        return self.try_to("report_model", provider=self._provider, model_id=self._provider)

    def fetch_task(self, _: Answer) -> Answer:
        answer = self.try_to("get_my_task")
        self.task = answer.get("task") or self.task
        if answer.get("delegations") is not None:
            self.task = {**self.task, "delegations": answer["delegations"]}
        if self.task.get("resumed"):
            say(f"resuming {self.task.get('title')}")
        return answer

    def notifications(self, _: Answer) -> Answer:
        answer = self.try_to("get_notifications")
        for notification in answer.get("notifications") or ():
            say(f"notice: {notification.get('message')}")
        return answer

    def wait(self, _: Answer) -> Answer:
        """Asks what is next; the server waits until there is something."""
        return self.try_to("get_next_action", timeout_seconds=LONGEST_WAIT_SECONDS)

    def report(self, result: str, summary: str) -> Answer:
        """Reports the main task; waits as long as its acceptance checks run. What could not go on because the session
        was told to leave is not blocked: the task goes on when its project does. For a review success is an approval,
        and a failure says what has to change.
        """
        if result == "blocked" and self._refused_for_good is not None:
            return self._refused_for_good
        say(f"reporting {result}" + ("" if result == "success" else f": {summary.splitlines()[0] if summary else ''}"))
        answer: Answer = {}
        if self.task.get("review_of") is not None and result in _VERDICTS:
            answer = self.try_to("submit_review", verdict=_VERDICTS[result], summary=summary or "No output.")
            self._reported = bool(answer.get("success"))
            return answer
        for number in range(1, REPORTS_AT_MOST + 1):
            answer = self.try_to("report_completed", result=result, summary=summary)
            if answer.get("error") != "notNow":
                break
            self.sleep(backoff.pause(number, 1.0, 30.0))
        self._reported = bool(answer.get("success"))
        return answer

    def leave(self, note: str | None = None) -> NoReturn:
        """Saves a note, logs out (a report has done so), and ends the session."""
        self._note(note)
        if not self._reported:
            self.try_to("logout")
        raise Over

    def stop(self, note: str) -> None:
        """Saves a note. A Coordinator then reports the end as what it is: logging out would be leaving unreported.

        A chat has nothing to report. It logs out, so that its open work goes to the next session immediately.
        """
        if self.purpose == "chat":
            self.leave()
        elif self._environ.get("TORYO_LAUNCH_ID"):
            self._note(note)
        else:
            self.leave(note)

    def _note(self, note: str | None) -> None:
        if note:
            say(note)
            self.try_to("save_progress", progress=note)

    def hurry(self) -> None:
        """From now on a server that is away is not waited for."""
        self._client.patience_seconds = self._once.patience_seconds = 0.0


def follow(session: Session, handlers: Mapping[str, Handler], chat: Callable[[], Mapping[str, Handler]]) -> None:
    """The loop: follows next actions until the session is over. Raises Over.

    Which of the two tables counts is known once it has signed in: `chat` is asked for in a chat session.
    """
    same = _Repeats()
    answer = session.sign_in()
    if session.purpose == "chat":
        handlers = chat()
    while True:
        step = _step(session, answer)
        action = str(step.get("action"))
        if action in ("exit", "logout", "wait", "wait_for_answer", "wait_for_others"):
            session.leave()
        if same.often(action, step.get("state_version"), session.progress):
            session.leave(f"The server keeps answering {action}, but nothing changes. Stopping.")
        handler = handlers.get(action)
        if handler is None and action != "get_next_action":
            say(f"this runner does not know the action {action}")
        answer = handler(step) if handler is not None else session.wait(step)


def common(session: Session) -> dict[str, Handler]:
    """What every runner does in the same way."""
    return {
        "report_model": session.report_model,
        "get_task": session.fetch_task,
        "get_notifications": session.notifications,
        "wait_for_messages": session.wait,
        "wait_for_delegation": session.wait,
    }


def main(provider: str, work: Callable[[Session], None]) -> NoReturn:
    """A runner's whole life: signals, server, work, and the exit code that says how it went."""
    for number in LEAVING:
        signal.signal(number, _told)
    # except for the tools in ONCE, a repeated call gets the same answer as the first
    client, once = (_client(repeat_lost=each) for each in (True, False))
    sys.exit(live(Session(client, os.environ, provider, once), work))


def _client(*, repeat_lost: bool) -> Client:
    url = os.environ.get("TORYO_SERVER_URL") or "http://127.0.0.1:8765"
    return Client(url, os.environ.get(CREDENTIAL), patience_seconds=PATIENCE, repeat_lost=repeat_lost)


def live(session: Session, work: Callable[[Session], None]) -> int:
    """The session from sign-in to its end; the exit code of its process."""
    try:
        work(session)
    except Over:
        return DONE
    except ToldToLeave:
        # Stopping: its child processes have ended. Leaves a note and exits. A second signal changes nothing.
        session.hurry()
        try:
            session.stop("Interrupted: stopped before the task was done.")
        except Over:
            pass
        except (Unreachable, ProtocolError, RefusalError) as problem:
            say(f"error: {problem}")
        return TOLD_TO_LEAVE
    except Unreachable as away:
        say(f"error: {away}")
        return NO_SERVER
    except RefusalError as no:
        say_refused(no)
        return NO_ADMISSION
    except ProtocolError as wrong:
        say(f"error: {wrong}")
        return NO_SERVER
    return DONE


def _told(_number: int, _frame: object) -> None:
    for number in LEAVING:
        signal.signal(number, signal.SIG_IGN)
    raise ToldToLeave


def _step(session: Session, answer: Answer) -> Answer:
    """What comes next: in the answer, riding along with it, or to be asked for."""
    riding = answer.get("next")
    step = riding if isinstance(riding, dict) else answer
    if step.get("action") and step["action"] != "get_next_action":
        return step
    asked = session.try_to("get_next_action", timeout_seconds=LONGEST_WAIT_SECONDS)
    if not asked.get("action"):
        session.leave()
    return asked


class _Repeats:
    """Counts how often the same action comes without a change (`state_version` stands still, and so does progress).

    A chat handles one item after the other, so the state of the tasks may not change for a long time.
    """

    def __init__(self) -> None:
        self._before: tuple[object, int] = (None, 0)
        self._said: Counter[str] = Counter()

    def often(self, action: str, version: object, progress: int) -> bool:
        if (version, progress) != self._before or (version is None and action not in self._said):
            self._said.clear()
        self._before = (version, progress)
        self._said[action] += 1
        return self._said[action] > SAME_AT_MOST and not action.startswith("wait_for")


def working_directory(task: Mapping[str, Any], environ: Mapping[str, str]) -> Path:
    """Where a Coordinator put this process; for one started by hand, the task's own directory."""
    named = task.get("working_directory")
    if environ.get("TORYO_LAUNCH_ID") or not named:
        return Path.cwd()
    return Path(str(named)).expanduser()


def command_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """For what a runner starts: its own, without the marks that make a process a Coordinator's child or our Python."""
    own = {name: environ.get(name) for name in (COORDINATOR_PID, UNREPORTED)}
    ours = {**own_python_path(), **own}
    return {name: value for name, value in environ.items() if ours.get(name) != value}


def _write(path: Path, text: str) -> None:
    """All of it or nothing, and on disk; a disk that is full must not keep a result from being reported."""
    new = path.with_suffix(".new")
    with contextlib.suppress(OSError):
        with new.open("w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)


def _printed(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a runner's output is its log


log: ContextVar[Callable[[str], None]] = ContextVar("log", default=_printed)
"""Where a runner's lines go."""


def say(text: str) -> None:
    """For people: it is in the launch's log."""
    log.get()(text)


def say_refused(no: RefusalError) -> None:
    say(f"error: {no.message or no.code}")
    if no.instruction:
        say(no.instruction)

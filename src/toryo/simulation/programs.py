"""The program of one launch: a runner of `agents/` on virtual time, connected to the simulated server.

Agents without a model (`playbook`, `script`, `command`) run the code that they really run; only their commands take
virtual time. An agent with a model is played by the same code: a worker as a command agent, a manager as one with a
playbook whose number of subtasks is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from toryo.agents import agent_loop, script_rules
from toryo.agents.agent_loop import Answer, Handler, Session, ToldToLeave, common, follow
from toryo.agents.chat_session import Talk
from toryo.agents.command import CommandRunner, Job
from toryo.agents.env_vars import CREDENTIAL
from toryo.agents.playbook_manager import Manager
from toryo.agents.playbook_worker import Worker
from toryo.agents.script import ScriptRunner
from toryo.agents.shell import Ran
from toryo.client import ProtocolError
from toryo.coordinator.orders import Launch
from toryo.failures import Failure
from toryo.formats import playbook_format, script_format, yaml_documents
from toryo.formats.simulation_format import MOST_SUBTASKS, Agent, Times
from toryo.formats.yaml_documents import Mistakes
from toryo.simulation.behaviours import BEHAVIOURS, Crashed, Obedient
from toryo.simulation.virtual_time import Killed, Thread, Timer
from toryo.simulation.world import World, result_of

WITHOUT_MODEL = frozenset({"command", "playbook", "script"})
SIGN_OF_LIFE_SECONDS = 600
"""How often a working program prints something: the server stops what is silent for long."""
CRASHED, BAD_CONFIG, KILLED = 1, 78, 9
STEPS = frozenset(
    "create_subtasks execute_task execute_subtask situational_awareness review_and_resolve_blocks".split()  # noqa: SIM905
)
"""Instructions before which a behaviour may do something else."""


class Client:
    """The connection of a program: its calls reach the operations directly, and a call that waits lets time pass."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.patience_seconds = 0.0

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Raises RefusalError."""
        program = self._program
        program.think()
        world, agent = program.world, program.launch.agent_id
        world.calls[agent, tool] += 1
        program.calls += 1
        until = world.time.now + round(float(arguments.get("timeout_seconds") or 0) * 1000)
        while True:
            may_wait = world.time.now < until
            outcome = world.perform_for_program(tool, arguments, program.launch.credential, may_wait=may_wait)
            if outcome.later is None:
                break
            moments = [until] if outcome.later.at is None else [until, outcome.later.at]
            program.wait_for(outcome.later.topics, max(min(moments), world.time.now + 50))
        if outcome.refused:
            world.refusals[agent, tool] += 1
        if outcome.result is None:
            raise ProtocolError(f"There is no answer to {tool}.")
        return result_of(outcome)


class VirtualSession(Session):
    def __init__(self, program: Program, client: Any) -> None:
        launch = program.launch
        environ = {
            CREDENTIAL: launch.credential or "",
            "AGENT_ID": launch.agent_id,
            "PROJECT_ID": launch.project_id,
            "TORYO_LAUNCH_ID": launch.launch_id,
        }
        super().__init__(client, environ, launch.ai_type)
        self._program = program

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        self._program.undisturbed += 1
        try:
            yield
        finally:
            self._program.undisturbed -= 1

    def pause(self, seconds: float) -> None:
        self._program.sleep(seconds)

    def sleep(self, seconds: float) -> None:
        self._program.sleep(seconds)


class Program:
    """`on_end` and `on_output` are called in the clock's thread, or while it waits for this one's turn to end."""

    def __init__(
        self,
        world: World,
        launch: Launch,
        agent: Agent,
        role: str,
        dice: random.Random,
        on_end: Callable[[Program], None],
        on_output: Callable[[Program], None],
    ) -> None:
        self.world, self.launch, self.agent, self.role, self.dice = world, launch, agent, role, dice
        self._on_end, self._on_output = on_end, on_output
        named = BEHAVIOURS[agent.behaviour]
        share = named.share if agent.share is None else agent.share
        self.behaviour: Obedient = named() if dice.random() < share else Obedient()
        self.session: Session = VirtualSession(self, Client(self))
        self.calls, self.worked_minutes = 0, 0.0
        self.lines: list[str] = []
        self.printed, self.offset = 0, 0
        """How many of these lines, and of their characters, the server has."""
        self.undisturbed = 0
        self._interrupted = False
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.error: str | None = None
        """The class of its failure, and words."""
        self._timer: Timer | None = None
        self._thread = Thread(launch.launch_id, self._run)
        self._timer = world.time.after(agent.start_seconds, self._thread.resume)

    # --- its life --------------------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        return self.exit_code is not None or self.signal is not None

    @property
    def has_model(self) -> bool:
        return self.launch.ai_type not in WITHOUT_MODEL

    def _run(self) -> None:
        agent_loop.log.set(self.lines.append)
        try:
            self.exit_code = agent_loop.live(self.session, lambda _: self._work())
        except Crashed:
            self.exit_code, self.error = CRASHED, f"{Failure.CRASHED}: exit code {CRASHED} (simulated)"
        except Mistakes as mistakes:
            self.exit_code, self.error = BAD_CONFIG, f"{Failure.BAD_CONFIG}: {mistakes}"
        except Killed:
            self.signal = KILLED
            raise
        finally:
            self.world.time.after(0.0, lambda: self._on_end(self))

    def interrupt(self) -> None:
        """As a signal to stop: raised where the program waits, or after what must not be disturbed."""
        if self.undisturbed:
            self._interrupted = True
        elif self._timer is not None:
            self._timer.cancel()
            self._thread.resume(ToldToLeave())
            self._ended_before_its_start(130)

    def kill(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._thread.resume(Killed())
        self._ended_before_its_start(None)

    def _ended_before_its_start(self, exit_code: int | None) -> None:
        if self._thread.over and not self.over:
            self.exit_code, self.signal = exit_code, None if exit_code is not None else KILLED
            self.world.time.after(0.0, lambda: self._on_end(self))

    # --- time ------------------------------------------------------------------------------------------------------

    def sleep(self, seconds: float) -> None:
        self._timer = self.world.time.after(seconds, self._thread.resume)
        self._thread.pause()
        self._heed()

    def wait_for(self, topics: frozenset[str], until: int) -> None:
        waiting = self.world.wait(topics, self._thread.resume, until)
        self._timer = _Cancelling(waiting.cancel)
        try:
            self._thread.pause()
        finally:
            waiting.cancel()
        self._heed()

    def _heed(self) -> None:
        if self._interrupted and not self.undisturbed:
            self._interrupted = False
            raise ToldToLeave

    def think(self) -> None:
        """Between two calls."""
        seconds = self.agent.call_seconds * self.behaviour.pace if self.calls else 0.0
        if seconds:
            self.sleep(seconds)

    def minutes(self) -> float:
        return draw(self.agent.minutes, self.dice) * self.behaviour.pace

    def work(self, minutes: float) -> None:
        """Works for these minutes; prints something now and then."""
        left = minutes * 60
        while left > 0:
            part = min(left, SIGN_OF_LIFE_SECONDS)
            self.sleep(part)
            left -= part
            self.worked_minutes += part / 60
            if left > 0:
                self.lines.append(f"working: {left / 60:.0f} minutes left")
                self._on_output(self)

    def ended(self) -> Ran:
        """How work ends, by the share of failures."""
        if self.dice.random() < self.agent.failures:
            return Ran("", "It did not work (simulated).")
        return Ran("done")

    def usage(self) -> dict[str, Any] | None:
        """What the program reports; None without a model."""
        if not self.has_model:
            return None
        tokens = self.agent.tokens
        total = tokens.start + tokens.call * self.calls + round(tokens.minute * self.worked_minutes)
        output = round(total * tokens.output_share)
        return {
            "input_tokens": total - output,
            "output_tokens": output,
            "cost_usd": round(total * self.agent.dollars_per_million / 1e6, 6),
            "tool_calls": self.calls,
            "model": self.launch.model or self.launch.ai_type,
        }

    # --- what it does ----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        options, kind = self.launch.provider_options, self.launch.ai_type
        if kind == "playbook":
            plan = _parsed(kind, options.get(kind), self.launch.working_directory)
            self._follow_plan(lambda: plan)
        elif kind == "script":
            runner = VirtualScript(self.session, _parsed(kind, options.get(kind), self.launch.working_directory), {})
            runner.program = self
            runner.work()
        elif self.role == "manager" and kind != "command":
            self._follow_plan(self._drawn_plan)
        else:
            worker = VirtualCommand(self.session, {})
            worker.program = self
            worker.work()

    def _follow_plan(self, plan: Callable[[], Mapping[str, Any]]) -> None:
        """As `agents/playbook.py`, with steps that take virtual time."""
        handlers: dict[str, Handler] = common(self.session)

        def fetch_task(step: Answer) -> Answer:
            answer = self.session.fetch_task(step)
            profile = self.session.try_to("get_my_profile").get("agent") or {}
            if profile.get("role") == "manager":
                handlers.update(self.behaving(Manager(self.session, plan()).handlers()))
            else:
                worker = VirtualWorker(self.session, plan(), {})
                worker.program = self
                handlers.update(self.behaving(worker.handlers()))
            return answer

        handlers["get_task"] = fetch_task
        follow(
            self.session, handlers, lambda: Talk(self.session, script_rules.plain("I only follow a plan.")).handlers()
        )

    def behaving(self, handlers: Mapping[str, Handler]) -> dict[str, Handler]:
        """The handlers, with what the behaviour does before some of them."""

        def before(handler: Handler) -> Handler:
            def handle(step: Answer) -> Answer:
                self.behaviour.step(self)
                return handler(step)

            return handle

        return {action: before(each) if action in STEPS else each for action, each in handlers.items()}

    def _drawn_plan(self) -> Mapping[str, Any]:
        """The same for every launch on a task: it follows from the task's title."""
        dice = random.Random(str(self.session.task.get("title")))  # noqa: S311 - chance, no secret
        many = min(MOST_SUBTASKS, max(1, round(draw(self.agent.subtasks, dice))))
        return _plan_of(many, self.agent.retry)


class _Cancelling(Timer):
    """Cancels a wait as if it were an entry of the clock."""

    def cancel(self) -> None:
        if self.action is not None:
            self.action()
        super().cancel()


class VirtualCommand(CommandRunner):
    program: Program

    def handlers(self) -> dict[str, Handler]:
        return self.program.behaving(super().handlers())

    def job(self) -> Job:
        job = super().job()
        return job if job.command or job.wanted else job._replace(command="simulated work")

    def _run(self, *_: object) -> tuple[str, str]:
        ran = self.program.behaviour.work(self.program)
        return ("success" if ran.ok else "failed"), ran.words()


class VirtualScript(ScriptRunner):
    program: Program

    def handlers(self) -> dict[str, Handler]:
        return self.program.behaving(super().handlers())

    def _run(self, *_: object) -> tuple[str, str]:
        ran = self.program.behaviour.work(self.program)
        return ("success" if ran.ok else "failed"), ran.words()


class VirtualWorker(Worker):
    program: Program

    def _run(self, *_: object) -> Ran:
        return self.program.behaviour.work(self.program)


def draw(times: Times, dice: random.Random) -> float:
    """One duration, in the unit of the distribution."""
    if times.samples:
        return dice.choice(times.samples)
    if times.mean is not None:
        spread = times.spread
        return times.mean * dice.lognormvariate(-spread * spread / 2, spread) if spread else times.mean
    assert times.min is not None and times.max is not None
    return dice.uniform(times.min, times.max)


@lru_cache(maxsize=100)
def _plan_of(many: int, retry: int) -> Mapping[str, Any]:
    steps = [{"id": f"part-{number}", "title": f"{{{{title}}}}, part {number}"} for number in range(1, many + 1)]
    document = {"tasks": [{"match": "*", "retry": retry, "subtasks": steps}]}
    return playbook_format.parse(yaml_documents.Document(document, "simulation"))


_plans: dict[tuple[str, str, str], Mapping[str, Any]] = {}


def _parsed(kind: str, given: Any, directory: str) -> Mapping[str, Any]:
    """The playbook or script of an agent. Raises Mistakes."""
    key = (kind, repr(given), directory)
    if key not in _plans:
        read = playbook_format.read if kind == "playbook" else script_format.read
        _plans[key] = read(given, Path(directory))
    return _plans[key]

"""Jobs beside launches: acceptance checks and worktree jobs. Each runs once, in its own task, and its answer is sent
until the server has accepted it.

`acceptance_checks.py` runs checks, `task_worktrees.py` worktree jobs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Container, Coroutine, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from toryo import named_commands
from toryo.check_limits import TIME_LIMIT
from toryo.client import RefusalError
from toryo.coordinator import (
    acceptance_checks,
    artifact_uploads,
    artifacts,
    pull_requests,
    queue_merges,
    task_worktrees,
    tree_setup,
)
from toryo.coordinator.acceptance_checks import Evidence
from toryo.coordinator.config import Config
from toryo.coordinator.orders import CheckOrder, Launch, WorktreeJob
from toryo.coordinator.pending_reports import Reports, may_be_taken_later
from toryo.coordinator.process_start import NO_COMMANDS, Starter
from toryo.coordinator.provider import StartFailure
from toryo.coordinator.server_api import Server
from toryo.coordinator.task_worktrees import CheckedOut
from toryo.coordinator.tree_setup import SetupFailed
from toryo.coordinator.whole_threads import to_its_end
from toryo.coordinator.workspaces import working_directory
from toryo.coordinator.worktrees import Trouble, clean_checkouts
from toryo.output_redaction import Mask

QUEUE_MERGE = "queue_merge"
CHECKS = "checks"
BASE_CHECKS = "base_checks"
COMMAND = "command"
PULL_REQUEST = "pull_request"

_OF_AN_ORDER = ("agent_id", "launch_id", "ai_type", "provider_options", "network", "setup", "worktree", "required")
NO_SANDBOX = (
    "On this machine the checks would run outside of a sandbox. They run when success is reported; to have them run "
    "before, a person installs bubblewrap, or gives the agent permissions: full."
)
OVER = "The agent's process is over, so its command was ended."
REPORTED = "Its agent has reported success or has left, so these checks were ended."
CHANGED_MEANWHILE = "Files of this task were changed while they were checked. Report again when nothing changes them."

log = logging.getLogger("toryo.coordinator")


def _order_of(job: WorktreeJob) -> CheckOrder:
    """What runs for an agent while it works, as its program was started."""
    return CheckOrder(
        job.job_id,
        job.working_directory,
        tuple(job.options.get("checks") or ()),
        project_id=job.project_id,
        worktree_task_id=job.task_id,
        worktree_path=job.path,
        **{name: job.options[name] for name in _OF_AN_ORDER if job.options.get(name) is not None},
    )


def _lane(order: CheckOrder) -> tuple[str, str]:
    return (order.project_id, order.worktree or order.check_id)


def _end(running: asyncio.Task[Any]) -> None:
    if not running.cancelling():  # a second time would interrupt how it ends its processes
        running.cancel()


def _nothing(_patterns: Sequence[str], _began: float) -> artifacts.Collected:
    return artifacts.Collected((), ())


class Jobs:
    def __init__(
        self,
        config: Config,
        server: Server,
        starter: Starter,
        reports: Reports,
        at_work: Container[str] = frozenset(),
    ) -> None:
        """`at_work`: the launches whose agents may run commands now."""
        self._config, self._server, self._starter, self._reports = config, server, starter, reports
        self._at_work = at_work
        self._for_agents: dict[asyncio.Task[dict[str, Any]], tuple[str, CheckOrder]] = {}
        """What runs for agents while they work, with its kind."""
        self.checking: dict[str, asyncio.Task[None]] = {}
        self.worktree_jobs: dict[str, asyncio.Task[None]] = {}
        self._stops: dict[str, asyncio.Event] = {}
        self._lanes: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        """One job of the merge queue at a time for each project and target, and one order of checks for each worktree:
        they share a directory. And one command of each launch."""

    @property
    def running(self) -> list[asyncio.Task[None]]:
        return [*self.checking.values(), *self.worktree_jobs.values()]

    def begin(self, checks: Iterable[CheckOrder], worktree_jobs: Iterable[WorktreeJob]) -> bool:
        """Starts those that are not already running; returns whether there were any."""
        new = False
        for check in checks:
            if check.check_id not in self.checking:
                new = True
                self._add(self.checking, check.check_id, self._run_check(check))
        for job in worktree_jobs:
            if job.job_id not in self.worktree_jobs:
                new = True
                self._stops[job.job_id] = asyncio.Event()
                self._add(self.worktree_jobs, job.job_id, self._run_worktree_job(job))
        return new

    def stop(self, job_ids: Iterable[str]) -> None:
        """Ends jobs of the merge queue that have not merged yet."""
        for job_id in job_ids:
            if (stop := self._stops.get(job_id)) is not None:
                stop.set()

    def _add(self, jobs: dict[str, asyncio.Task[None]], job_id: str, work: Coroutine[Any, Any, None]) -> None:
        jobs[job_id] = asyncio.create_task(work)
        jobs[job_id].add_done_callback(lambda _: jobs.pop(job_id, None))

    async def _run_worktree_job(self, job: WorktreeJob) -> None:
        try:
            own = {
                QUEUE_MERGE: self._queue_merge,
                CHECKS: self._tried,
                BASE_CHECKS: self._base_checks,
                COMMAND: self._command,
            }
            answer = await own.get(job.kind, self._done)(job)
        finally:
            self._stops.pop(job.job_id, None)
        log.info("%s of task %s: %s", job.kind, job.task_id, answer.get("trouble") or "done")
        await self._reports.until_told(job.job_id, partial(self._tell_worktree_job, job, answer))

    async def _done(self, job: WorktreeJob) -> dict[str, Any]:
        if job.kind == PULL_REQUEST:
            mask = self._starter.mask_of(map(str, job.options.get("authors") or ()))
            return await asyncio.to_thread(pull_requests.run, job, self._starter.worktrees, mask)
        return await asyncio.to_thread(task_worktrees.run, job, self._starter.worktrees)

    async def _queue_merge(self, job: WorktreeJob) -> dict[str, Any]:
        stop = self._stops[job.job_id]
        lane = self._lanes.setdefault((job.project_id, str(job.options.get("into"))), asyncio.Lock())
        authors = self._starter.authors(job)
        try:
            async with lane:
                walled = partial(self._starter.check_walled, self._starter.least_trusted(authors))
                mask = self._starter.mask_of([each.agent_id for each in authors])
                return await queue_merges.run(job, self._starter.worktrees, stop, walled, mask)
        except StartFailure as failure:
            return queue_merges.trouble_answer(str(failure))
        except Exception as problem:  # whatever it is, the queue must hear of it
            log.exception("%s", job.job_id)
            return queue_merges.trouble_answer(f"{type(problem).__name__}: {problem}")

    async def _base_checks(self, job: WorktreeJob) -> dict[str, Any]:
        """What a project requires, on a commit that nobody has worked on."""
        order = _order_of(job)
        try:
            async with self._lanes.setdefault((job.project_id, BASE_CHECKS), asyncio.Lock()):
                walled, mask = partial(self._starter.check_walled, order), self._starter.mask_of([order.agent_id])
                found = await queue_merges.try_commands(job, self._starter.worktrees, walled, mask)
        except (StartFailure, Trouble, OSError) as trouble:
            return task_worktrees.trouble_answer(job.task_id, str(trouble))
        return {"done": True, "evidence": [each.told() for each in found]}

    async def _tell_worktree_job(self, job: WorktreeJob, answer: dict[str, Any]) -> None:
        """If the server refuses an answer, an error is sent instead, so that no caller waits indefinitely."""
        try:
            await self._server.report_worktree_job(job.job_id, **answer)
        except RefusalError as no:
            if may_be_taken_later(no):
                raise
            # Also a report that is too large: what was merged must be known.
            facts = {name: answer[name] for name in ("merged", "gone") if name in answer}
            trouble = f"The server did not accept the result ({no})."
            await self._server.report_worktree_job(job.job_id, done=False, trouble=trouble[:1000], **facts)

    async def _run_check(self, order: CheckOrder) -> None:
        """Of a task with a worktree, what would be merged is checked, in a directory that no agent has written. What
        its agent has tried there no longer matters."""
        await self._end_for_agents(lambda kind, tried: kind == CHECKS and _lane(tried) == _lane(order))
        async with self._lane(order):
            found = await self._checked(order)
        log.info("checked %s: %d of %d failed", order.check_id, sum(each.failed for each in found), len(found))
        result = artifact_uploads.Result(order.check_id, found, self._server, lambda: self._reports.leaving)
        await self._reports.until_told(order.check_id, result.tell)

    def _lane(self, order: CheckOrder) -> asyncio.Lock:
        return self._lanes.setdefault(_lane(order), asyncio.Lock())

    async def _tried(self, job: WorktreeJob) -> dict[str, Any]:
        """The checks of a task, for its agent: without a trace in what counts. What the agent has written runs only in
        a sandbox, or if it may run commands outside of one anyway."""
        order = _order_of(job)

        async def run() -> dict[str, Any]:
            if not self._starter.sandboxes(order) and not job.options.get("unsandboxed"):
                raise StartFailure(NO_SANDBOX)
            async with self._lane(order):
                found = await self._checked(order, counts=False)
            return {"done": True, "evidence": [each.told() for each in found]}

        return await self._for_agent(job, order, run(), REPORTED)

    async def _command(self, job: WorktreeJob) -> dict[str, Any]:
        """A command of an agent without a shell, where it works and while it works: in a sandbox or not at all."""
        order = _order_of(job)
        if order.launch_id not in self._at_work:
            return task_worktrees.trouble_answer(job.task_id, OVER)
        return await self._for_agent(job, order, self._command_run(job, order), OVER)

    async def _for_agent(
        self, job: WorktreeJob, order: CheckOrder, work: Coroutine[Any, Any, dict[str, Any]], ended: str
    ) -> dict[str, Any]:
        """The answer to an agent, whatever happens; `ended`, if it was ended before."""
        running = asyncio.create_task(work)
        self._for_agents[running] = (job.kind, order)
        try:
            await asyncio.wait((running,))
            return task_worktrees.trouble_answer(job.task_id, ended) if running.cancelled() else running.result()
        except (StartFailure, Trouble) as failure:
            return task_worktrees.trouble_answer(job.task_id, str(failure))
        except Exception as problem:  # whatever it is, the agent must hear of it
            log.exception("%s", job.job_id)
            return task_worktrees.trouble_answer(job.task_id, f"{type(problem).__name__}: {problem}")
        finally:
            del self._for_agents[running]
            _end(running)
            await asyncio.gather(running, return_exceptions=True)

    async def _command_run(self, job: WorktreeJob, order: CheckOrder) -> dict[str, Any]:
        if not self._starter.sandboxes(order):
            return task_worktrees.trouble_answer(job.task_id, NO_COMMANDS)
        words = [str(each) for each in job.options.get("command") or ()]
        mask = self._starter.mask(Launch(order.launch_id, order.agent_id, ai_type=order.ai_type))
        async with self._lanes.setdefault((order.project_id, order.launch_id), asyncio.Lock()):
            directory = await asyncio.to_thread(self._workplace, job, order)
            wall = self._starter.check_walled(order, directory, as_agent=True)
            run = await acceptance_checks.execute(words, TIME_LIMIT, directory, wall, named_commands.TOLD)
        output, why = mask(run.output), mask(run.why)[: named_commands.TOLD] if run.exit_code is None else ""
        why = f"{why}\n" if why and output else why
        said = why + output[max(0, len(why) + len(output) - named_commands.TOLD) :]
        outcome = "failed" if run.why else "passed"
        found = Evidence(words[0][:200], outcome, 0.0, exit_code=run.exit_code, output=said)
        return {"done": True, "evidence": [found.told()]}

    def _workplace(self, job: WorktreeJob, order: CheckOrder) -> Path:
        """Where the agent works. Raises StartFailure or Trouble."""
        if order.worktree is not None:
            found = task_worktrees.worktree_of(job, job.task_id, job.path, self._starter.worktrees)
            if found is None:
                raise Trouble(task_worktrees.gone_sentence(job.task_id))
            return found.working_directory
        own = self._config.working_directory(order.agent_id, order.project_id)
        launch = Launch(
            order.launch_id,
            order.agent_id,
            order.project_id,
            working_directory=str(job.options.get("directory") or order.working_directory),
        )
        return working_directory(launch, own)

    async def end_all_for(self, launch_id: str) -> None:
        """Ends what an agent has left running; when this returns, all of it has ended."""
        await self._end_for_agents(lambda _, order: order.launch_id == launch_id)

    async def _end_for_agents(self, which: Callable[[str, CheckOrder], bool]) -> None:
        left = [running for running, what in self._for_agents.items() if which(*what)]
        for running in left:
            _end(running)
        await asyncio.gather(*left, return_exceptions=True)

    async def _made_ready(self, order: CheckOrder, mask: Mask) -> CheckedOut | None:
        """A clean checkout of the work, if it is in a worktree. Raises SetupFailed, Trouble or OSError."""
        found = await to_its_end(task_worktrees.checked_out, order, self._starter.worktrees)
        if found is not None and found.clean.due:
            await self._set_up(order, found, mask)
        return found

    async def _checked(self, order: CheckOrder, *, counts: bool = True) -> list[Evidence]:
        """`counts`: what is found decides about the work, and is kept."""
        own = self._config.working_directory(order.agent_id, order.project_id)
        mask = self._starter.mask(Launch(order.launch_id, order.agent_id))
        try:
            found = await self._made_ready(order, mask)
        except SetupFailed as failure:
            return acceptance_checks.all_failed(order.checks, str(failure))
        except (Trouble, OSError) as trouble:
            return acceptance_checks.all_failed(order.checks, f"What would be merged cannot be checked. {trouble}")
        directory = found.clean.working_directory if found is not None else Path(own or order.working_directory)
        place = artifacts.Place(directory, found.clean.top if found is not None else None)
        room = artifacts.Room()
        collect = partial(artifacts.collect, place=place, mask=mask, room=room)
        ignored = None
        if found is not None:
            own_place = artifacts.Place(found.worktree.working_directory, found.worktree.path)
            keep = partial(artifacts.collect, place=own_place, mask=mask, room=room) if counts else _nothing
            ignored = acceptance_checks.Ignored(found.worktree.working_directory, keep)

        async def renew() -> None:
            nonlocal found
            commands = replace(order, checks=tuple(each for each in order.checks if "command" in each))
            tree = found.clean.tree if found is not None else None
            try:
                found = await self._made_ready(commands, mask)
                if found is None or found.clean.tree != tree:
                    raise Trouble(CHANGED_MEANWHILE)
            except SetupFailed as failure:
                raise Trouble(str(failure)) from failure

        ended = await acceptance_checks.evidence(
            order.checks,
            directory,
            self._starter.check_walled(order, directory),
            partial(task_worktrees.changes, found),
            mask,
            collect if counts else None,
            ignored,
            renew if found is not None else None,
        )
        ended = await self._told_apart(order, ended, found, directory, mask)
        if found is not None and counts:
            with contextlib.suppress(Trouble, OSError):
                passed = not any(each.failed for each in ended)
                checked = zip(order.checks, ended, strict=True)
                only_here = [str(check["file"]) for check, each in checked if "file" in check and each.left_out]
                note = partial(clean_checkouts.note, passed=passed, only_here=only_here)
                await to_its_end(note, found.worktree, found.clean)
        return ended

    async def _told_apart(
        self, order: CheckOrder, ended: list[Evidence], found: CheckedOut | None, directory: Path, mask: Mask
    ) -> list[Evidence]:
        """Whether checks whose commands were not found could run before the work, in the same sandbox."""
        if not any(each.failed and each.unable for each in ended):
            return ended
        required = [acceptance_checks.missing_programs(each, directory) for each in order.checks[: order.required]]
        base: Path | None = directory
        if found is not None:
            try:
                base = await to_its_end(clean_checkouts.to_base, found.worktree, found.clean)
            except (Trouble, OSError) as trouble:
                log.warning("%s: its checks cannot be tried without the work: %s", order.check_id, trouble)
                return ended
        wall, changes = self._starter.check_walled(order, directory), partial(task_worktrees.changes, found)
        ignored = partial(clean_checkouts.ignored_paths, found.worktree, found.clean) if found is not None else None
        return [
            await acceptance_checks.cannot_run(check, each, base, wall, changes, mask, ignored, unbrought)
            for check, each, unbrought in zip(order.checks, ended, chain(required, repeat(())), strict=False)
        ]

    async def _set_up(self, order: CheckOrder, found: CheckedOut, mask: Mask) -> None:
        """Raises SetupFailed, Trouble or OSError."""
        directory = found.clean.working_directory
        wall = self._starter.check_walled(order, directory, setup=True)
        await tree_setup.run(found.setup, found.project, directory, wall, mask)
        await to_its_end(clean_checkouts.settle, found.worktree, found.clean)

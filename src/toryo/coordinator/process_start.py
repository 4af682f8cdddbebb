"""Starts a launch: directory, provider, environment, output file, process.

Any problem is a StartFailure of this launch alone. The launch's directory is created first, because files are written
to it, and removed if a later step fails; the process is started last, so that no process runs unmonitored. The agent's
identity is set after the environment of the file, so that nothing there can change it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from toryo import output_redaction, untrusted_files
from toryo.agents import env_vars
from toryo.coordinator import environment, logs, network_limits, processes, sandbox, task_worktrees, tree_setup
from toryo.coordinator.config import NO_EFFECT, Config, without_effect
from toryo.coordinator.orders import CheckOrder, Launch, WorktreeJob
from toryo.coordinator.prices import cost
from toryo.coordinator.processes import Process
from toryo.coordinator.program_homes import ProgramHomes
from toryo.coordinator.program_output import Reading, Totals
from toryo.coordinator.provider import (
    BadConfig,
    BadSetup,
    Beside,
    Command,
    Needs,
    Provider,
    Setting,
    permissions,
    refuse_mistakes,
    refuse_unmetered,
)
from toryo.coordinator.sandbox import Place, Sandbox, Walled
from toryo.coordinator.tree_setup import Setup, SetupFailed
from toryo.coordinator.workspaces import Workspaces, working_directory
from toryo.coordinator.worktrees import Worktree, signing
from toryo.first_prompt import first_words
from toryo.output_redaction import Mask
from toryo.provider_options import COMMANDS, PERMISSIONS, Permissions
from toryo.sandbox_network import WIDTH, Asked

_NOTHING = Needs()
NO_COMMANDS = (
    "Outside of a sandbox, an agent's commands do not run: who may run a test that it has written may run anything. "
    "Install bubblewrap on this machine, or give the agent permissions: full."
)
"""Of the option `commands`."""


@dataclass(frozen=True, slots=True)
class Started:
    process: Process
    provider: Provider
    mask: Mask
    reading: Reading | None
    goes_on: bool = False
    """Whether it resumes a session of its program."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A program session to resume, and the prompt for it."""

    session_id: str
    prompt: str


class Starter:
    """What all starts of one Coordinator have in common."""

    PREPARED_WITHIN = 30.0
    """Seconds that `prepared` may take."""
    MOST_BESIDE = 256 * 1024
    """Bytes that are read at one look of what a program tells in another file."""

    def __init__(
        self,
        config: Config,
        providers: Mapping[str, Provider],
        server_url: str,
        mark: str,
        logs_in: Path,
        workspaces: Workspaces,
        worktrees: Path,
        inherited: Mapping[str, str],
        sandbox: Sandbox | None = None,
    ) -> None:
        self.providers = providers
        self.logs_in = logs_in
        self._config = config
        self._server_url = server_url
        self._mark = mark
        self._workspaces = workspaces
        self.homes = ProgramHomes(workspaces.directory)
        self.worktrees = worktrees
        self._inherited = inherited
        self._sandbox = sandbox

    @property
    def has_sandbox(self) -> bool:
        """Whether programs here run in a sandbox."""
        return self._sandbox is not None and self._sandbox.usual

    def sandboxes(self, order: CheckOrder) -> bool:
        """Whether these checks run in one. Raises StartFailure if they must and cannot."""
        return self._sandbox is not None and self._sandbox.wanted(_launch_of(order))

    @property
    def offered(self) -> list[str]:
        """The providers that can start agents here: installed model programs, and those that the file names."""
        path = self._inherited.get("PATH", os.defpath)
        return sorted(
            name
            for name, each in self.providers.items()
            if not each.model_cli
            or name in self._config.ai_providers
            or each.version is None
            or shutil.which(each.version[0], path=path)
        )

    def worktree(self, launch: Launch) -> Callable[[], Worktree] | None:
        """How to make the worktree that a launch works in: it blocks, and raises BadConfig. None: it has none."""
        place = task_worktrees.place_of(launch, self._config.isolation)
        if place is None:
            return None
        repository = self._project(launch)
        return lambda: task_worktrees.make(place, launch.project_id, repository, self.worktrees)

    async def set_up(self, launch: Launch, worktree: Worktree) -> None:
        """Makes a worktree ready before the first program in it, as the project says. Raises BadSetup."""
        setup = Setup.read(launch.workspace.get("setup"))
        if not setup or tree_setup.is_done(worktree):
            return
        order = CheckOrder(
            launch.launch_id,
            launch.working_directory,
            (),
            agent_id=launch.agent_id,
            project_id=launch.project_id,
            launch_id=launch.launch_id,
            ai_type=launch.ai_type,
            provider_options=launch.provider_options,
            network=launch.network,
        )
        project, directory = worktree.repository / worktree.subdirectory, worktree.working_directory
        wall = self.check_walled(order, directory, setup=True)
        try:
            await tree_setup.run(setup, project, directory, wall, self.mask(launch))
        except SetupFailed as failure:
            raise BadSetup(str(failure)) from failure
        tree_setup.mark_done(worktree)

    def reads_project(self, launch: Launch) -> bool:
        """Whether its provider reads files of the project, where agents write: that is done by `prepared`."""
        provider = self.providers.get(launch.ai_type)
        return provider is not None and provider.reads_project

    def prepared(self, launch: Launch, worktree: Worktree | None = None) -> Command:
        """The command to execute, without starting it; raises StartFailure. It may take long: for a thread."""
        workspace = self._workspaces.path(launch.launch_id)
        directory = worktree.working_directory if worktree is not None else self._directory(launch, workspace)
        provider = self._provider(launch)
        return _prepared(self._setting(launch, provider, directory, workspace, None, worktree), provider)

    def start(
        self,
        launch: Launch,
        worktree: Worktree | None = None,
        resumed: Resumed | None = None,
        command: Command | None = None,
    ) -> Started:
        """Starts the process; raises StartFailure with nothing left behind but the reason.

        `resumed`: the launch has left without a report and is reminded, in the session it had. `command`: prepared
        before.
        """
        provider = self._provider(launch)
        inside = self._sandbox is not None and self._sandbox.wanted(launch)
        refuse_unmetered(launch, provider)
        launch = self._with_its_session(launch, inside=inside)
        workspace = self._workspaces.make(launch.launch_id)
        try:
            directory = worktree.working_directory if worktree is not None else self._directory(launch, workspace)
            setting = self._setting(launch, provider, directory, workspace, resumed, worktree)
            if command is None:
                command = _prepared(setting, provider)
            self._workspaces.write(launch.launch_id, command.files)
            self._workspaces.link(launch.launch_id, command.links)
            outside = self._environment(launch, provider, worktree)
            env = outside | dict(command.env)
            notes = (
                *(worktree.notes if worktree is not None and resumed is None else ()),
                *self._without_effect(setting, provider, inside=inside),
            )
            needs = provider.needs(outside) if provider.needs is not None and inside else Needs()
            homes = self._homes_of(launch, needs, setting, command, (directory, self.worktrees))
            looks = provider.model_cli and permissions(setting) is Permissions.READ
            walled = self._walled(
                launch, command.argv, env, needs, homes, directory, worktree, workspace, read_only=looks
            )
            process = self._execute(launch, command, walled, directory, notes)
        except BaseException:
            self.clean_up(launch.launch_id)
            raise
        goes_on = setting.resume is not None
        return Started(process, provider, self.mask(launch), self.reading(launch), goes_on)

    def _without_effect(self, setting: Setting, provider: Provider, *, inside: bool) -> Iterator[str]:
        """What is said of an argument or an option that promises more than it gives."""
        if setting.options.get(COMMANDS.name) and not inside:
            yield NO_COMMANDS
        section = self._config.ai_providers.get(setting.launch.ai_type)
        option = without_effect(section.cli_args) if section is not None and provider.options is None else None
        may = permissions(setting)
        if option is not None and may is not Permissions.FULL:
            yield NO_EFFECT.format(option=option, permissions=may.value)

    def reading(self, launch: Launch) -> Reading | None:
        """The reader of a launch's output, from its first line; None if the output is plain text."""
        provider = self.providers.get(launch.ai_type)
        if provider is None or provider.parse is None:
            return None
        went_on = provider.keeps_context and provider.resumes
        before = Totals.read(launch.program_session.get("totals")) if went_on else Totals()
        price = partial(cost, provider.name, provider.prices) if provider.prices else provider.so_far
        return Reading(provider.parse, before, price, asked=provider.asks_untold)

    def _setting(
        self,
        launch: Launch,
        provider: Provider,
        directory: Path,
        workspace: Path,
        resumed: Resumed | None,
        worktree: Worktree | None,
    ) -> Setting:
        words = first_words(launch.agent_id, launch.language, str(launch.provider_options.get("prompt") or ""))
        goes_on = provider.keeps_context and provider.resumes
        earlier = str(launch.program_session.get("id") or "") if goes_on else ""
        return Setting(
            launch,
            directory,
            workspace,
            self._server_url,
            provider.max_turns,
            prompt=resumed.prompt if resumed else words,
            resume=resumed.session_id if resumed else (earlier or None),
            environ={**environment.allowed_variables(self._inherited, provider.env), **provider.settings},
            # In the worktree is the work of other agents, too, which nobody has read.
            plans=partial(task_worktrees.merged_text, worktree) if worktree is not None else None,
            own_sandbox=not (os.geteuid() == 0 and self._sandbox is not None and self._sandbox.wanted(launch)),
        )

    def _with_its_session(self, launch: Launch, *, inside: bool) -> Launch:
        """Without the session that its program would not find: sessions of a sandbox exist only in one."""
        session = str(launch.program_session.get("id") or "")
        provider = self._provider(launch)
        if not session or provider.needs is None or self.homes.has_session(launch, session) is inside:
            return launch
        return replace(launch, program_session={})

    def _homes_of(
        self, launch: Launch, needs: Needs, setting: Setting, command: Command, written: Sequence[Path]
    ) -> dict[Path, Path]:
        links = {str(setting.workspace / name): target for name, target in command.links.items()}
        return self.homes.make(launch, needs.own, setting.resume, links=links, written=written)

    def workspace(self, launch_id: str) -> Path:
        return self._workspaces.path(launch_id)

    def file_beside(self, launch: Launch, beside: Beside, session: str | None) -> Path | None:
        """Where a program tells what its output lacks; None while that is not known."""
        if isinstance(beside.file, str):
            return self.workspace(launch.launch_id) / beside.file
        provider = self._provider(launch)
        if session is None or provider.needs is None:
            return None
        environ = {**environment.allowed_variables(self._inherited, provider.env), **provider.settings}
        own = provider.needs(environ).own[0]
        place = self.homes.place(launch.launch_id) or own.place
        found = beside.file(place, session)
        return found if found is not None and found.resolve().is_relative_to(place.resolve()) else None

    def told_beside(self, path: Path, beside: Beside, since: int | None) -> tuple[str, int]:
        """What a program has written into such a file since then, and how far that is. Of much, the end; of a line that
        is still written, nothing yet, where lines count."""
        with os.fdopen(untrusted_files.open_regular(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            begin = max(size if since is None else since if since <= size else 0, size - self.MOST_BESIDE)
            file.seek(begin)
            written = file.read(self.MOST_BESIDE)
            waits = beside.to_the_end and len(written) < self.MOST_BESIDE
            whole = written[: written.rfind(b"\n") + 1] if waits else written
            return whole.decode("utf-8", "replace"), begin + len(whole)

    def unreported(self, launch_id: str) -> Any:
        """The result that a runner could not report before it ended, if there is one."""
        with contextlib.suppress(OSError, ValueError, RecursionError):
            file = self.workspace(launch_id) / env_vars.UNREPORTED_FILE
            kept = json.loads(untrusted_files.text(file, largest=untrusted_files.LARGEST_RECORD, nofollow=True))
            return kept if isinstance(kept, dict) else None
        return None

    def refusals(self, launch_id: str) -> Path:
        """The file of the hosts that a launch was refused."""
        return network_limits.refusals_of(self.logs_in, launch_id)

    def clean_up(self, launch_id: str) -> None:
        self.homes.remove(launch_id)
        self._workspaces.remove(launch_id)

    def mask(self, launch: Launch, more: Iterable[str] = ()) -> Mask:
        """Hides this launch's credential, the Coordinator's own, what its provider was trusted with, and `more`."""
        passkey, provider = self._config.agent(launch.agent_id).passkey, self.providers.get(launch.ai_type)
        own = [launch.credential, self._config.coordinator_token, passkey]
        trusted = self._trusted(provider) if provider is not None else ()
        return Mask([*own, *more, *(secret for each in trusted for secret in output_redaction.among(each))])

    def mask_of(self, agent_ids: Iterable[str]) -> Mask:
        """Hides the passkeys of these agents, and the Coordinator's own token."""
        return Mask([self._config.coordinator_token, *(self._config.agent(each).passkey for each in agent_ids)])

    def _trusted(self, provider: Provider) -> Iterator[Mapping[str, str]]:
        """What a provider's programs get of this machine's environment and of the file's, beside the allow-list: all
        accounts', since a program without a sandbox may read those of the others.
        """
        yield {name: self._inherited[name] for name in provider.env if name in self._inherited}
        yield from (provider.settings, *provider.accounts.values())

    def _walled(
        self,
        launch: Launch,
        argv: Sequence[str],
        env: Mapping[str, str],
        needs: Needs,
        homes: Mapping[Path, Path],
        directory: Path,
        worktree: Worktree | None,
        workspace: Path,
        *,
        read_only: bool,
    ) -> Walled:
        """What is executed: the program itself, or the sandbox around it."""
        if self._sandbox is None or not self._sandbox.wanted(launch):
            return Walled(tuple(argv), env)
        section = self._config.ai_providers.get(launch.ai_type)
        place = Place(
            directory if worktree is None else self._project(launch),
            None if worktree is None else worktree.path,
            directory,
            workspace,
            read_only,
            self._server_url,
            needs,
            homes,
            sandbox.program_words(section.cli_args) if section is not None else (),
            tuple(self._logins_of_others(launch, needs)),
        )
        words = (*(section.cli_args if section is not None else ()), *launch.provider_options.get("args", ()))
        program = network_limits.Program(
            launch.ai_type,
            env,
            machine=self._inherited,
            server_url=self._server_url,
            project_id=launch.project_id,
            agent_id=launch.agent_id,
        )
        written = (*self._sandbox.written(place), self.worktrees)
        return self._sandbox.around(
            argv,
            env,
            place,
            limits=self._limits(launch, program, needs, words, written),
            refusals=self.refusals(launch.launch_id),
        )

    def _limits(
        self,
        launch: Launch,
        program: network_limits.Program,
        needs: Needs = _NOTHING,
        words: Sequence[str] = (),
        written: Sequence[Path] = (),
        *,
        setup: bool = False,
    ) -> network_limits.Limits | None:
        """Of its network in the sandbox. The settings of its program are read only where they count."""
        assert self._sandbox is not None
        found = self._sandbox.network_of(launch, setup=setup)
        self._sandbox.refuse_unlimited(found)
        if found.models:
            urls = network_limits.urls_of(needs, list(map(str, words)), written)
            logins = network_limits.logins_of(needs, written)
            program = replace(program, urls=urls, logins=logins)
        return network_limits.limits(found, Asked.read(launch.network), program)

    def _logins_of_others(self, launch: Launch, own: Needs) -> Iterator[Path]:
        """Where the same program has its login with another account."""
        base = self.providers.get(launch.ai_type)
        if base is None or base.needs is None:
            return
        real = {each.place.resolve() for each in own.own}
        for each in base.logins:
            found = base.needs({**environment.allowed_variables(self._inherited, each.env), **each.settings})
            yield from (other.place for other in found.own if other.place.resolve() not in real)

    def check_walled(
        self, order: CheckOrder, directory: Path, *, setup: bool = False, as_agent: bool = False
    ) -> Callable[[Sequence[str]], Walled]:
        """How the command of an acceptance check is executed: what it runs, an agent may have written. In a checkout of
        our own it may write, also for an agent that only reads: tests and builds do. `setup`: it is one that sets the
        directory up; it may have a network of its own. `as_agent`: it runs where the agent works, and writes only what
        the agent may."""
        env = self.check_environment(order)
        own = self._config.working_directory(order.agent_id, order.project_id) or order.working_directory
        ours = directory.resolve().is_relative_to(self.worktrees.resolve())
        worktree = next((path for path in (directory, *directory.parents) if (path / ".git").is_file()), directory)
        launch = _launch_of(order)

        def walled(argv: Sequence[str]) -> Walled:
            if self._sandbox is None or not self._sandbox.wanted(launch):
                return Walled(tuple(argv), env)
            project = Path(own).resolve() if ours else directory.resolve()
            provider = self.providers.get(order.ai_type)
            given = order.provider_options.get(PERMISSIONS.name, PERMISSIONS.default)
            free = setup or (ours and not as_agent)
            looks = not free and provider is not None and provider.model_cli and given == Permissions.READ
            place = Place(project, worktree if ours else None, directory, read_only=looks)
            program = network_limits.Program(  # it asks no model
                machine=self._inherited, project_id=order.project_id, agent_id=order.agent_id
            )
            limits, refusals = self._limits(launch, program, setup=setup), network_limits.refusals_of_command()
            return self._sandbox.around(argv, env, place, limits=limits, refusals=refusals)

        return walled

    def authors(self, job: WorktreeJob) -> list[CheckOrder]:
        """The checks of a job of the merge queue as each agent whose work is merged would run them."""
        given = job.options.get("authors") or [{}]
        return [
            CheckOrder(
                job.job_id,
                job.working_directory,
                (),
                agent_id=str(each.get("agent_id") or ""),
                project_id=job.project_id,
                launch_id=job.job_id,
                ai_type=str(each.get("ai_type") or ""),
                provider_options=dict(each.get("provider_options") or {}),
                network=job.options.get("network"),
            )
            for each in given
        ]

    def least_trusted(self, authors: Sequence[CheckOrder]) -> CheckOrder:
        """The one with the narrowest sandbox: the combined work of all runs in it."""

        def freedom(order: CheckOrder) -> tuple[bool, int]:
            if self._sandbox is None:
                return True, 0
            launch = _launch_of(order)
            return not self._sandbox.wanted(launch), WIDTH[self._sandbox.network_of(launch).network]

        return min(authors, key=freedom)

    def check_environment(self, order: CheckOrder) -> dict[str, str]:
        """For acceptance checks: the agent's, without what would let a command act as the agent."""
        return {
            **environment.allowed_variables(self._inherited),
            env_vars.CHECK_ID: order.check_id,
            env_vars.COORDINATOR_ID: self._mark,
            "AGENT_ID": order.agent_id,
            "PROJECT_ID": order.project_id,
        }

    def _provider(self, launch: Launch) -> Provider:
        provider = self.providers.get(launch.ai_type)
        if provider is None:
            raise BadConfig(
                f"This Coordinator has no provider {launch.ai_type!r}, which agent {launch.agent_id} uses. It has: "
                f"{', '.join(sorted(self.providers))}. Add ai_providers.{launch.ai_type} to the Coordinator's "
                "file, or give the agent another provider."
            )
        return provider.for_account(launch.account)

    def _directory(self, launch: Launch, workspace: Path) -> Path:
        """The working directory. A chat only talks: if there is none, it runs in the launch's own directory."""
        try:
            return self._project(launch)
        except BadConfig:
            if launch.purpose != "chat":
                raise
            return workspace

    def _project(self, launch: Launch) -> Path:
        return working_directory(launch, self._config.working_directory(launch.agent_id, launch.project_id))

    def project(self, launch: Launch) -> Path | None:
        """The project's directory on this machine, if there is one."""
        try:
            return self._project(launch)
        except BadConfig:
            return None

    def _environment(self, launch: Launch, provider: Provider, worktree: Worktree | None) -> dict[str, str]:
        passkey = self._config.agent(launch.agent_id).passkey
        where = {} if worktree is None else {env_vars.WORKTREE: str(worktree.path), **signing(launch.agent_id)}
        return {
            **where,
            **environment.allowed_variables(self._inherited, provider.env),
            **provider.settings,
            **environment.identity(launch, self._server_url, self._mark, os.getpid(), passkey),
        }

    def _execute(
        self, launch: Launch, command: Command, walled: Walled, directory: Path, notes: Sequence[str]
    ) -> Process:
        _, output = logs.create(self.logs_in, launch.launch_id)
        logs.note(output, notes)
        stdin = self._workspaces.reading(launch.launch_id, command.stdin)
        try:
            return processes.start(
                walled.argv,
                cwd=directory,
                env=walled.env,
                output=output,
                stdin=stdin,
                keep=walled.keep,
                sandboxed=walled.sandboxed,
            )
        finally:
            os.close(output)
            walled.close()
            if stdin >= 0:
                os.close(stdin)


def _launch_of(order: CheckOrder) -> Launch:
    """What decides on the sandbox of its commands."""
    return Launch(
        order.launch_id,
        order.agent_id,
        ai_type=order.ai_type,
        provider_options=order.provider_options,
        network=order.network,
    )


def _prepared(setting: Setting, provider: Provider) -> Command:
    """The command to execute; raises StartFailure, first of all for options that the provider does not know."""
    refuse_mistakes(setting, provider)
    return provider.prepare(setting)

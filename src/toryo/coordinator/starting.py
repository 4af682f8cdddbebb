"""One start, from the order to the running process: directory, provider, environment, output file, process.

Whatever is impossible about it is a StartFailure that concerns this launch alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toryo.coordinator import environment, logs, processes
from toryo.coordinator.config import Config
from toryo.coordinator.orders import CheckOrder, Launch
from toryo.coordinator.processes import Process
from toryo.coordinator.provider import BadConfig, Provider, Setting
from toryo.coordinator.secrets import Mask
from toryo.coordinator.workspaces import Workspaces, working_directory


@dataclass(frozen=True, slots=True)
class Started:
    process: Process
    provider: Provider
    mask: Mask


class Starter:
    """Everything that is the same for all starts of one Coordinator."""

    def __init__(
        self,
        config: Config,
        providers: Mapping[str, Provider],
        server_url: str,
        mark: str,
        logs_in: Path,
        workspaces: Workspaces,
        inherited: Mapping[str, str],
    ) -> None:
        self.providers = providers
        self.logs_in = logs_in
        self._config = config
        self._server_url = server_url
        self._mark = mark
        self._workspaces = workspaces
        self._inherited = inherited

    def start(self, launch: Launch) -> Started:
        """Starts the process; raises StartFailure with nothing left behind but the reason."""
        provider = self._provider(launch)
        workspace = self._workspaces.make(launch.launch_id)
        try:
            directory = self._directory(launch, workspace)
            command = provider.prepare(Setting(launch, directory, workspace, self._server_url, provider.max_turns))
            self._workspaces.write(launch.launch_id, command.files)
            env = self._environment(launch, provider) | dict(command.env)
            process = self._execute(launch, command.argv, directory, env)
        except BaseException:
            self._workspaces.remove(launch.launch_id)
            raise
        return Started(process, provider, self.mask(launch, provider))

    def clean_up(self, launch_id: str) -> None:
        self._workspaces.remove(launch_id)

    def mask(self, launch: Launch, provider: Provider | None = None) -> Mask:
        """Hides this launch's credential, the Coordinator's own, and what the provider was trusted with."""
        trusted = [self._inherited.get(name) for name in provider.env] if provider else []
        given = list(provider.settings.values()) if provider else []
        passkey = self._config.agent(launch.agent_id).passkey
        return Mask([launch.credential, self._config.coordinator_token, passkey, *trusted, *given])

    def check_environment(self, order: CheckOrder) -> dict[str, str]:
        """For acceptance checks: the agent's, without what would let a command act as the agent."""
        return {
            **environment.allowed(self._inherited),
            environment.CHECK_ID: order.check_id,
            environment.COORDINATOR_ID: self._mark,
            "AGENT_ID": order.agent_id,
            "PROJECT_ID": order.project_id,
        }

    def _provider(self, launch: Launch) -> Provider:
        provider = self.providers.get(launch.ai_type)
        if provider is None:
            raise BadConfig(
                f"This Coordinator has no provider {launch.ai_type!r} for agent {launch.agent_id}; it has:"
                f" {', '.join(sorted(self.providers))}. Add ai_providers.{launch.ai_type} to its file, or give the"
                " agent another provider."
            )
        return provider

    def _directory(self, launch: Launch, workspace: Path) -> Path:
        """Where it works. A chat only talks: where there is no such place, it does so in the launch's own directory."""
        try:
            return working_directory(launch, self._config.agent(launch.agent_id).working_directory)
        except BadConfig:
            if launch.purpose != "chat":
                raise
            return workspace

    def _environment(self, launch: Launch, provider: Provider) -> dict[str, str]:
        passkey = self._config.agent(launch.agent_id).passkey
        return {
            **environment.allowed(self._inherited, provider.env),
            **provider.settings,
            **environment.identity(launch, self._server_url, self._mark, os.getpid(), passkey),
        }

    def _execute(self, launch: Launch, argv: tuple[str, ...], directory: Path, env: Mapping[str, str]) -> Process:
        _, output = logs.create(self.logs_in, launch.launch_id)
        try:
            return processes.start(argv, cwd=directory, env=env, output=output)
        finally:
            os.close(output)

"""`toryo apply` for a simulation: the same code, on a server that exists in this process only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from toryo.cli import manifest_apply
from toryo.cli.command_context import Here
from toryo.cli.manifest import Manifest

if TYPE_CHECKING:
    from toryo.client import Client
    from toryo.simulation.world import World


@dataclass
class Inside(Here):
    """Commands that talk to `world` instead of a server."""

    world: World | None = None

    @cached_property
    def client(self) -> Client:
        assert self.world is not None
        return cast("Client", _Client(self.world))


class _Client:
    """The part of `Client` that commands use."""

    def __init__(self, world: World) -> None:
        self.rest = world.rest
        self.token = ""
        self.address = _Address()


class _Address:
    local = False

    def __str__(self) -> str:
        return "the simulation"


def apply(world: World, manifest: Manifest) -> None:
    """Everything the manifest says, without a question; raises as `toryo apply`."""
    manifest_apply.apply(Inside(world=world), manifest, yes=True)


def programs(manifest: Manifest) -> dict[str, dict[str, Any]]:
    """The manifest's agents that are not people, by id: as `Run` takes them."""
    return {
        agent.id: {"role": agent.role, "provider": agent.provider} for agent in manifest.agents if agent.kind == "ai"
    }

"""`toryo mcp`: the stdio bridge, for programs that start their MCP servers as commands."""

from __future__ import annotations

import sys

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, command
from toryo.cli.exit_codes import Misuse


def add(app: typer.Typer) -> None:
    command(app, "mcp", options=("data_dir", "server", "token", "token_file"))(mcp)


def mcp(here: Here) -> None:
    """Connect an MCP client over stdin and stdout. For clients that start a command. It reads no token file."""
    import asyncio
    import logging

    if here.server is not None:
        _refuse_no_address(here.server)
    if sys.stdin.isatty():
        output.say(
            "This command speaks MCP on stdin and stdout. Add `toryo mcp` to the configuration of an MCP client."
        )
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="toryo mcp: %(message)s")
    asyncio.run(_carry(here))


async def _carry(here: Here) -> None:
    """Until stdin closes, or stdout has no reader."""
    import asyncio

    from toryo.client import line_io, server_discovery
    from toryo.client.stdio_bridge import Bridge

    def find() -> server_discovery.Found:
        return server_discovery.find(here.server, here.token, here.data_dir, role=None)

    out = line_io.Output(sys.stdout.fileno())
    carrying = asyncio.create_task(Bridge(find, out.write).run(line_io.lines(sys.stdin.fileno())))
    left = asyncio.create_task(out.broken.wait())
    await asyncio.wait([carrying, left], return_when=asyncio.FIRST_COMPLETED)
    for task in (carrying, left):
        task.cancel()
    await asyncio.wait([carrying, left])
    if not carrying.cancelled():
        carrying.result()


def _refuse_no_address(url: str) -> None:
    from toryo.client import server_address

    try:
        server_address.parse(url)
    except ValueError as error:
        raise Misuse(str(error), "See --server and TORYO_SERVER_URL.") from None

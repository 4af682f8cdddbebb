"""The process `toryo coordinator`: signals, messages on stderr, exit code. Its work is in `loop.py`."""

from __future__ import annotations

import asyncio
import logging
import signal
from pathlib import Path

from toryo.coordinator import escaped_processes
from toryo.coordinator.config import Config
from toryo.coordinator.loop import Coordinator
from toryo.coordinator.provider import BadConfig

log = logging.getLogger("toryo.coordinator")

WRONG_CONFIGURATION = 2
INTERRUPTED = 130


def main(
    config: Config, *, data_dir: Path | None = None, config_file: Path | None = None, token_file: Path | None = None
) -> int:
    """`toryo coordinator`: runs until SIGTERM or SIGINT and says on stderr what it does; the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        interrupted = asyncio.run(_main(config, data_dir, config_file, token_file))
    except BadConfig as wrong:
        log.error("%s", wrong)
        return WRONG_CONFIGURATION
    return INTERRUPTED if interrupted else 0


async def _main(config: Config, data_dir: Path | None, config_file: Path | None, token_file: Path | None) -> bool:
    """Whether it was a person's ^C that ended it."""
    coordinator = Coordinator(
        config, data_dir=data_dir, adopts=escaped_processes.adopt(), config_file=config_file, token_file=token_file
    )
    log.info("%s", coordinator.sandbox.told)
    loop = asyncio.get_running_loop()
    signals: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        if number == signal.SIGHUP and signals:  # a closed terminal may send it twice; that is no request to hurry
            return
        signals.append(number)
        coordinator.stop()

    heeded = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # a closed terminal stops the agents (except under nohup)
        heeded.append(signal.SIGHUP)
    for number in heeded:
        loop.add_signal_handler(number, stop, number)
    await coordinator.run()
    return signals[:1] == [signal.SIGINT]

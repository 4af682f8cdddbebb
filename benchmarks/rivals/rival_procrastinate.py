"""Procrastinate as its quickstart shows it: PostgreSQL, one worker that does one job at a time."""

from __future__ import annotations

import os
import sys
import time

from bell import enqueuing, ring
from procrastinate import App, PsycopgConnector, SyncPsycopgConnector

PATH = "rival_procrastinate.app"
URL = os.environ["BENCH_URL"]
app = App(connector=PsycopgConnector(conninfo=URL))


@app.task(name="number")
def number(given: int) -> int:
    return ring(given)


if __name__ == "__main__":
    if "enqueue" in sys.argv:
        with app.replace_connector(SyncPsycopgConnector(conninfo=URL)) as filing, filing.open():
            while not filing.check_connection():  # the worker makes the tables
                time.sleep(0.1)
            enqueuing(lambda given: filing.configure_task("number").defer(given=given))
    else:
        with app.replace_connector(SyncPsycopgConnector(conninfo=URL)) as setting_up, setting_up.open():
            setting_up.schema_manager.apply_schema()
        app.run_worker()

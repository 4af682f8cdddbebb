"""The health check, open to everyone; and the metrics of the database for /metrics."""

from __future__ import annotations

import toryo
from toryo.domain.measures import Measure
from toryo.domain.times import Millis, iso
from toryo.operations.calls import server_id
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Available, NoParameters, operation
from toryo.operations.calls.context import Context
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import JsonObject, Result
from toryo.storage.engine.database import Database


class Health(Result):
    status: str
    version: str
    server_id: str
    timestamp: str


def _unseen(context: Context, database: Database, now: Millis) -> JsonObject | None:
    """Without a transaction, where the database need not be asked whether it is there. Monitors call this all the
    time."""
    if not context.server_id.value or not database.is_certainly_there():
        return None
    return {**_healthy(context.server_id.value, now)}


@operation("health_check", available=Available.ALWAYS, grant=Grant.OPEN, reads=True, little=True, unseen=_unseen)
def health_check(call: Call, _: NoParameters) -> Health:
    """Returns the status and version of the server, and its server_id: that of its database, whatever its address."""
    call.tx.connection.check()
    call.context.server_id.value = server_id.of(call.tx)
    return _healthy(call.context.server_id.value, call.now)


def _healthy(known: str, now: Millis) -> Health:
    return {
        "success": True,
        "status": "ok",
        "version": toryo.__version__,
        "server_id": known,
        "timestamp": iso(now),
    }


def measures(call: Call) -> list[Measure]:
    """How many tasks, sessions, launches and claims there are, for /metrics."""
    return [*call.tx.measures(), Measure("internal_errors", {}, call.context.faults.total)]

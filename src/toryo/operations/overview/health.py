"""The health check, open to everyone; and the metrics of the database for /metrics."""

from __future__ import annotations

import toryo
from toryo.domain.measures import Measure
from toryo.domain.times import iso
from toryo.operations.calls import server_id
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Available, NoParameters, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result


class Health(Result):
    status: str
    version: str
    server_id: str
    timestamp: str


@operation("health_check", available=Available.ALWAYS, grant=Grant.OPEN, reads=True)
def health_check(call: Call, _: NoParameters) -> Health:
    """Returns the status and version of the server, and its server_id: that of its database, whatever its address."""
    call.tx.connection.check()
    return {
        "success": True,
        "status": "ok",
        "version": toryo.__version__,
        "server_id": server_id.of(call.tx),
        "timestamp": iso(call.now),
    }


def measures(call: Call) -> list[Measure]:
    """How many tasks, sessions, launches and claims there are, for /metrics."""
    return [*call.tx.measures(), Measure("internal_errors", {}, call.context.faults.total)]

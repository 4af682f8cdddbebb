"""The connection to the server, with one message each when it is lost, refuses, or is back."""

from __future__ import annotations

import logging

from toryo.client import RefusalError
from toryo.coordinator.server_api import Unfit

_TOKEN_REFUSED = frozenset({"invalidCredentials", "authenticationRequired", "coordinatorRequired"})
_WHERE_IT_IS = (
    "On the server's machine, coordinator.token in its data directory contains the token of Coordinators; `toryo "
    "token rotate coordinator` makes a new one. Write it into the file of --token-file. If the token was passed "
    "in another way, start this Coordinator again with the new one"
)

log = logging.getLogger("toryo.coordinator")


class ServerStatus:
    """`well`: a health check has succeeded since the last failure."""

    def __init__(self, url: str, coordinator_id: str) -> None:
        self._who = (url, coordinator_id)
        self._told: str | None = None
        self._refused = False
        self.well = False

    def failed(self, why: Exception) -> None:
        """Logs once while the server is unreachable or unfit, and once for each kind of refusal; running agents
        continue.
        """
        self.well = False
        self._refused = isinstance(why, RefusalError)
        what = why.code if isinstance(why, RefusalError) else "unfit" if isinstance(why, Unfit) else "away"
        if what != self._told:
            log.warning("cannot work with the server: %s; trying again", _in_words(why))
        self._told = what

    def greeted(self) -> None:
        """The health check succeeded; after a refusal that alone changes nothing."""
        self.well = True
        if not self._refused:
            self._say_working()

    def served(self) -> None:
        """A call has succeeded."""
        if self._refused:
            self._say_working()

    def _say_working(self) -> None:
        self._told, self._refused = None, False
        log.info("connected to %s as %s", *self._who)


def _in_words(why: Exception) -> str:
    """Refusals are worded for agents: for a token that is not a Coordinator's, says where to get one."""
    if isinstance(why, RefusalError) and why.code in _TOKEN_REFUSED:
        return f"the server does not accept the token of this Coordinator ({why.code}). {_WHERE_IT_IS}"
    return str(why)

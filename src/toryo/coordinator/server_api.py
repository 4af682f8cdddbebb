"""The Coordinator's calls to the server, with the meaning of each failure. No decisions here.

If the server does not know the token, it may have been replaced (`toryo token rotate`): the token is read again and the
call repeated once.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import toryo
from toryo.artifact_limits import PIECE
from toryo.client import AsyncClient, ProtocolError, RefusalError
from toryo.coordinator import orders
from toryo.coordinator.acceptance_checks import Evidence
from toryo.coordinator.missing_logins import MissingLogin
from toryo.coordinator.orders import Orders
from toryo.long_waits import LONGEST_WAIT_SECONDS

_UNKNOWN_TOKEN = frozenset({"invalidCredentials", "authenticationRequired"})


class Unfit(ProtocolError):
    """The server answers, but this Coordinator should not work with it now."""


class Server:
    def __init__(self, client: AsyncClient, token: Callable[[], str | None] | None = None) -> None:
        """`token`: reads the current token of this Coordinator."""
        self._client = client
        self._token = token
        self._takes_news = self._takes_evidence = self._takes_sandbox = True
        self._id: str | None = None
        """The id of the first server it found: another server at the same address is refused."""

    @property
    def url(self) -> str:
        return str(self._client.address)

    async def check_health(self) -> None:
        """Raises Unfit if the server is unhealthy, of another major version, or not the first one found."""
        answer = await self._call("health_check")
        if answer.get("status") != "ok":
            raise Unfit(f"{self.url} returned the status {answer.get('status')!r} instead of 'ok'")
        theirs, ours = str(answer.get("version") or ""), toryo.__version__
        if theirs.partition(".")[0] != ours.partition(".")[0]:
            raise Unfit(f"{self.url} has version {theirs}, this Coordinator has version {ours}. Update the older one.")
        found = answer.get("server_id") or None
        if self._id and found and found != self._id:
            raise Unfit(f"{self.url} is now a different server. Restart this Coordinator to work with it.")
        self._id = self._id or found

    async def claim(
        self,
        coordinator_id: str,
        *,
        agent_ids: Sequence[str] | None,
        providers: Sequence[str],
        labels: Sequence[str],
        free_slots: int,
        free_chat_slots: int,
        running: Sequence[str],
        checking: Sequence[str],
        worktree_jobs: Sequence[str] = (),
        capabilities: Sequence[str] | None = None,
        directories: Sequence[dict[str, str]] = (),
        accounts: Sequence[dict[str, str]] = (),
        sandbox: bool = False,
    ) -> Orders:
        """Waits until there is something to start, stop or check; renews the leases of `running`."""
        said = _said(
            coordinator_id=coordinator_id,
            agent_ids=agent_ids,
            accounts=accounts or None,
            labels=labels or None,
            capabilities=capabilities,
            directories=directories or None,
            sandbox=(sandbox and self._takes_sandbox) or None,
            server_id=self._id,
            providers=providers,
            free_slots=free_slots,
            free_chat_slots=free_chat_slots,
            running=running,
            checking=checking,
            worktree_jobs=worktree_jobs,
            timeout_seconds=LONGEST_WAIT_SECONDS,
        )
        try:
            return orders.read(await self._call("claim_starts", **said))
        except RefusalError as no:
            if said.pop("sandbox", None) is None or no.code != "validationError":
                raise
            self._takes_sandbox = False  # an older server
            return orders.read(await self._call("claim_starts", **said))

    async def report_exit(self, launch_id: str, **how: Any) -> str | None:
        """Reports an exit; returns a reminder if the program left without a report and may be resumed with one."""
        said = _said(**how)
        try:
            answer = await self._call("report_process_exit", launch_id=launch_id, **said)
        except RefusalError as no:
            unknown = [said.pop(name, None) for name in ("refused_hosts", "unreported")]
            if not any(unknown) or no.code != "validationError":
                raise
            answer = await self._call("report_process_exit", launch_id=launch_id, **said)  # an older server
        return answer.get("reminder")

    async def append_log(
        self,
        launch_id: str,
        offset: int,
        text: str,
        usage: dict[str, Any] | None = None,
        news: Mapping[str, Any] | None = None,
    ) -> int:
        news = news if self._takes_news else None
        said = _said(launch_id=launch_id, offset=offset, text=text, usage=usage)
        try:
            answer = await self._call("append_log", **said, **(news or {}))
        except RefusalError as no:
            if not news or no.code != "validationError":
                raise
            self._takes_news = False  # an older server; the output must still reach it
            answer = await self._call("append_log", **said)
        return int(answer.get("next_offset", offset + len(text)))

    async def store_artifact(self, check_id: str, place: int, name: str, content: bytes) -> str:
        """Sends a file that a check has left, in pieces; returns its id."""
        artifact_id, sent = "", 0
        while not artifact_id or sent < len(content):
            piece = content[sent : sent + PIECE]
            answer = await self._call(
                "store_artifact",
                check_id=check_id,
                place=place,
                name=name,
                size=len(content),
                offset=sent,
                content=base64.b64encode(piece).decode(),
            )
            artifact_id, sent = str(answer["artifact_id"]), sent + len(piece)
        return artifact_id

    async def report_check(
        self, check_id: str, evidence: Sequence[Evidence], artifacts: Sequence[Sequence[str]] = ()
    ) -> None:
        """`artifacts`: the ids of the files that each of them has left."""
        failures = [{"check": each.check, "message": each.message} for each in evidence if each.failed]
        results = _reported_evidence(evidence, artifacts) if self._takes_evidence else None
        try:
            await self._call("report_check_result", check_id=check_id, failures=failures, **_said(results=results))
        except RefusalError as no:
            if results is None or no.code != "validationError":
                raise
            self._takes_evidence = False  # an older server
            await self._call("report_check_result", check_id=check_id, failures=failures)

    async def report_worktree(self, launch_id: str, **what: Any) -> str | None:
        """Why its process should not be started; None: nothing prevents it. A server that asked for no paths gets none
        (`workspace.watched`)."""
        stop = (await self._report("report_worktree", {"launch_id": launch_id, **_said(**what)})).get("stop")
        return str(stop) if stop is not None else None

    async def report_worktree_job(self, job_id: str, **how: Any) -> None:
        await self._report("report_worktree_job", {"job_id": job_id, **_said(**how)})

    async def _report(self, tool: str, said: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._call(tool, **said)
        except RefusalError as no:
            plain = _for_older(said)
            if no.code != "validationError" or plain == said:
                raise
            return await self._call(tool, **plain)

    async def report_disk(self, coordinator_id: str, logs_bytes: int, worktrees_bytes: int, *, complete: bool) -> None:
        await self._call(
            "report_disk",
            coordinator_id=coordinator_id,
            logs_bytes=logs_bytes,
            worktrees_bytes=worktrees_bytes,
            complete=complete,
        )

    async def report_login(self, login: MissingLogin) -> None:
        await self._call("report_login", provider=login.provider, **_said(account=login.account))

    async def close(self) -> None:
        await self._client.close()

    async def _call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        try:
            return await self._client.call(tool, **arguments)
        except RefusalError as no:
            token = self._token() if self._token is not None and no.code in _UNKNOWN_TOKEN else None
            if token in (None, self._client.token):
                raise
            self._client.token = token
        return await self._client.call(tool, **arguments)


def _reported_evidence(evidence: Sequence[Evidence], artifacts: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Without names that an older server does not know, where there is nothing to say."""
    told = []
    for place, each in enumerate(evidence):
        files = {"artifacts": list(artifacts[place])} if artifacts and artifacts[place] else {}
        left_out = {"left_out": list(each.left_out)} if each.left_out else {}
        told.append({**each.told(), **files, **left_out})
    return told


def _for_older(said: dict[str, Any]) -> dict[str, Any]:
    """The same for an older server. A moved base is told as what prevents something."""
    plain = {name: value for name, value in said.items() if name not in ("moved_base", "subtasks")}
    if "moved_base" in said and not plain.get("trouble"):
        plain["trouble"] = said["moved_base"]["words"]
    if "anyway" in plain.get("answer", {}):
        plain["answer"] = {name: value for name, value in plain["answer"].items() if name != "anyway"}
    if conflicts := plain.get("queue", {}).get("conflicts"):
        known = ("entry_id", "files", "others")
        plain["queue"] = {**plain["queue"], "conflicts": [{name: each[name] for name in known} for each in conflicts]}
    return plain


def _said(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}

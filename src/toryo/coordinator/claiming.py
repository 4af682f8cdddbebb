"""The waiting claim: asks the server what to start, one request at a time, and never before all exits are reported.

The server would decide about agents that it believes to be running. A waiting claim is never abandoned, because its
answer would be lost. The only exception is a claim without a slot when there is one again.
"""

from __future__ import annotations

import asyncio

from toryo.client import ProtocolError, RefusalError, Unreachable
from toryo.coordinator.at_hand import AtHand, now
from toryo.coordinator.claim_pacing import Pace
from toryo.coordinator.orders import Orders
from toryo.coordinator.reconcile import Plan

SETTLE = 0.05
"""Seconds for an answer in transit before its claim is abandoned."""
STARTS_AT_A_TIME = 32
"""Maximum number of starts per claim: the server decides about the next ones while these are started, so that a hundred
starts do not wait until the last of them is decided.
"""


class Claiming:
    def __init__(self, at_hand: AtHand) -> None:
        self._at = at_hand
        self._orders: Orders | None = None
        self._claim: asyncio.Task[None] | None = None
        self._asked = (0, 0)
        self._asked_at = 0.0
        self._blind_since: float | None = None
        self._pace = Pace(at_hand.config.polling_interval)

    def taken(self) -> Orders | None:
        """What the server has answered since this was asked last."""
        given, self._orders = self._orders, None
        return given

    def carried_out(self, *, news: bool) -> None:
        """The last answer was, and contained something new or not."""
        self._pace.answered(now(), took=now() - self._asked_at, news=news)

    def look_again(self) -> list[float]:
        """When, without other news."""
        until = []
        if self._claim is None and not self._at.telling.pending and self._at.leaving_since is None:
            until.append(self._pace.ask_at)
        if self._blind_since is not None:
            until.append(self._blind_since + SETTLE)
        return until

    def ask(self, plan: Plan) -> None:
        """Makes one claim at a time, and none before all exits are reported."""
        if self._at.leaving_since is not None:
            self.cancel()
            return
        if self._at.telling.pending:
            return
        self._give_up_blind(plan)
        if self._claim is None and now() >= self._pace.ask_at:
            self._asked = min(plan.free_slots, STARTS_AT_A_TIME), min(plan.free_chat_slots, STARTS_AT_A_TIME)
            self._asked_at = now()
            self._claim = asyncio.create_task(self._claim_starts(*self._asked))

    def _give_up_blind(self, plan: Plan) -> None:
        """Abandons a claim without a slot when there is one now: it would wait without effect.

        Any other claim is kept, whatever has changed: the next one reports the current state. An answer in transit
        would be lost with its claim, and the exit just reported may well have caused one, so it gets a moment to
        arrive.
        """
        offers = zip(self._asked, (plan.free_slots, plan.free_chat_slots), strict=True)
        if self._claim is None or not any(asked == 0 < free for asked, free in offers):
            self._blind_since = None
        elif self._blind_since is None:
            self._blind_since = now()
        elif now() >= self._blind_since + SETTLE:
            self.cancel()

    def cancel(self) -> None:
        if self._claim is not None:
            self._claim.cancel()
            self._claim = self._blind_since = None

    async def _claim_starts(self, free_slots: int, free_chat_slots: int) -> None:
        try:
            if not self._at.contact.well:
                await self._at.server.check_health()
                self._at.contact.greeted()
            self._orders = await self._at.server.claim(
                self._at.instance.id,
                agent_ids=None if self._at.config.agents is None else sorted(self._at.config.agents),
                providers=self._at.starter.offered,
                labels=self._at.config.labels,
                free_slots=free_slots,
                free_chat_slots=free_chat_slots,
                running=self._at.running,
                checking=sorted(self._at.jobs.checking),
                worktree_jobs=sorted(self._at.jobs.worktree_jobs),
                capabilities=self._at.config.capabilities,
                directories=self._at.config.directories,
                accounts=self._at.config.accounts,
                sandbox=self._at.starter.has_sandbox,
            )
        except (Unreachable, ProtocolError, RefusalError) as away:
            self._at.contact.failed(away)
            self._pace.failed(now())
        else:
            self._at.contact.served()
        self._claim = None
        self._at.news.set()

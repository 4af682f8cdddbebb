"""Agents that misbehave on purpose, for tests and demonstrations of the guards.

| `behave` | What it does |
|---|---|
| `silent` | fetches messages, and never answers |
| `endless` | never ends a conversation, and always has something to say |
| `rude` | speaks out of turn, writes to agents without a conversation, and ignores refusals |
| `ignores_turns` | speaks in every open conversation whenever it looks, no matter whose turn it is |
| `floods` | says everything 40 times |
| `crash_after: N` | kills itself when it gets its Nth message (counted per process; redelivered ones do not count) |
| `exit_after: N` | logs out instead of answering its Nth message |
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

from toryo import backoff
from toryo.agents.agent_loop import Answer, Session, say
from toryo.agents.chat_session import Talk
from toryo.agents.script_rules import Move

FLOOD = 40
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 60.0


class Misbehaving(Talk):
    def __init__(self, session: Session, script: Mapping[str, Any]) -> None:
        super().__init__(session, script)
        self._behave: Mapping[str, Any] = script["behave"]
        self._received = 0
        self._pauses = backoff.pauses(FIRST_PAUSE, LONGEST_PAUSE)

    def look(self, step: Answer) -> Answer:
        answer = super().look(step)
        if self._behave["silent"]:
            # The same answer comes back immediately, so it asks less and less often.
            self._session.progressed()
            self._session.pause(next(self._pauses))
        return answer

    def deal_with(self, given: Answer) -> None:
        self._received += sum(not message.get("redelivered") for message in given.get("pending_messages") or ())
        crash, leave = self._behave["crash_after"], self._behave["exit_after"]
        if crash is not None and self._received >= crash:
            say("crashing, as set in the script")
            os.kill(os.getpid(), signal.SIGKILL)
        if leave is not None and self._received >= leave:
            say("leaving, as set in the script")
            self._session.leave()
        if self._behave["silent"]:
            return
        if self._behave["ignores_turns"]:
            given = {
                **given,
                "conversations": [
                    {**conversation, "your_turn": True} for conversation in given.get("conversations") or ()
                ],
            }
        super().deal_with(given)

    def move(self, conversation: Answer) -> Move:
        move = super().move(conversation)
        if self._behave["endless"]:
            return move._replace(text=move.text or "And what else?", ends=False)
        return move

    def speak(self, conversation_id: str, text: str) -> Answer:
        answer = super().speak(conversation_id, text)
        if self._behave["rude"]:
            super().speak(conversation_id, "And another thing!")
            partner = str((self._conversations.get(conversation_id) or {}).get("with_agent_id"))
            self.write("send_message", "Did you hear me?", target_agent_id=partner)
        return answer

    def write(self, tool: str, text: str, **to: str) -> Answer:
        """Rude ones and those that flood do not wait for room."""
        if not (self._behave["rude"] or self._behave["floods"]):
            return super().write(tool, text, **to)
        answers = [
            self._session.try_to(tool, content=text, **to) for _ in range(FLOOD if self._behave["floods"] else 1)
        ]
        return answers[0]

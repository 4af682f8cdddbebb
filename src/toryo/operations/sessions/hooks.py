"""What every call does to its session, whatever the operation."""

from __future__ import annotations

from toryo.domain.errors import Code, Refusal
from toryo.operations.calls import session_hooks
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.results import JsonObject
from toryo.operations.messaging import mailboxes
from toryo.operations.sessions import guards, next_action_answer


class _Hooks:
    def guard(self, call: Call, operation: Operation) -> None:
        if not operation.reads:
            mailboxes.confirm(call)
        if operation.leads and call.session.root_id is not None and not call.session.over:
            # The answer carries the next action, which is decided from the whole tree: it is read at once.
            call.tx.tasks.tree(call.session.root_id)
        guards.refuse(call, operation)

    def count(self, call: Call, *, refused: bool, refusal: Refusal | None = None) -> None:
        if refusal is not None:
            mailboxes.confirm(call)  # the transaction in which `guard` did so was rolled back
        guards.touch(call, refused=refused)
        if refusal is not None and refusal.code is Code.RUNAWAY and not (call.session.runaway or call.session.over):
            call.adopt_counts(guards.trip(call, call.session, "restless"))

    def accompany(self, call: Call, operation: Operation, answer: JsonObject) -> JsonObject:
        session = call.session
        if session.over or session.ended_at is not None:
            return answer
        if operation.leads:
            # Who may choose something else is not sent to ask first: `next` is the act that the refusal names.
            again = next_action_answer.another_choice(answer) if "alternatives" in answer else None
            answer = {**answer, "next": again or next_action_answer.preview(call)}
        waiting = call.tx.handovers.count_waiting(session.id)
        return {**answer, "notifications_pending": waiting} if waiting else answer

    def recorded(self, call: Call, answer: JsonObject) -> JsonObject:
        return next_action_answer.with_version(call, answer)


session_hooks.install(_Hooks())

"""Queue calls that are carried out together: filing, polling and submitting of plain tasks, in a few statements.

A batch takes the calls of all projects that wait. It answers as if it had carried out first every create, then every
result, then every poll (calls that wait have no order), with the rows, events and hints of the handlers in
`create_tools.py`, `task_results.py` and `polling.py`. It never refuses anything: what the rules would refuse, and what
is not plain, it leaves to those handlers.

`_Plain` decides what is plain, with `PLAIN` in `storage/queue_batches.py` for what a row shows. Calls that meet others
are left as well: a key or a task that comes twice, an agent or a limit that is full, a queue with an expired claim.
If you change what a handler does, change it here, too: tests/operations/test_queue_batches.py compares both ways.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from toryo.domain import creation_rules, ids, queue
from toryo.domain.errors import Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.moves import Change
from toryo.domain.projects import Approvals, Project
from toryo.domain.queue import Claim, Presence
from toryo.domain.tasks import Approval, Details, Status, Task, verb
from toryo.domain.times import SECOND, Millis
from toryo.operations.calls import context, idempotency, permissions, stored_limits, together
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.callers import Caller
from toryo.operations.calls.catalogue import Handler, Later
from toryo.operations.calls.credential_verification import QUEUE, digest, holder_of
from toryo.operations.calls.dispatch import Answered, Outcome, Request
from toryo.operations.calls.results import JsonObject
from toryo.operations.queue import claims as queue_claims
from toryo.operations.queue import polling, task_results
from toryo.operations.queue.task_results import OneResult
from toryo.operations.tasks import create_tools, mutations, queue_tasks
from toryo.operations.tasks.queue_tasks import Wanted
from toryo.storage.engine.database import Connection
from toryo.storage.queue_batches import ClaimedTask, Found, KeyHolder, OnceKey, Queue
from toryo.storage.stored_amounts import Amount, Owner
from toryo.storage.transaction import Transaction


@dataclass(slots=True, eq=False)
class _Asked:
    """One call of a batch, and what becomes of it. `answer` stays None if it is not plain."""

    request: Request
    caller: Caller
    project: Project
    member: bool
    presence: Presence | None
    call: Call
    answer: JsonObject | None = None
    later: Later | None = None
    first_event: int = 0
    end_of_events: int = 0

    @property
    def parameters(self) -> Any:
        return self.request.parameters

    @property
    def agent_id(self) -> str:
        """Whose key it is; the precondition has seen to it that there is one."""
        assert self.caller.agent is not None
        return self.caller.agent.id


# --- what is plain ---------------------------------------------------------------------------------------------------


class _Plain:
    """The precondition: what may be carried out in a batch. Everything else is left to the handlers."""

    @staticmethod
    def call(request: Request) -> bool:
        """With an API key and nothing else, of valid arguments."""
        shown = request.credentials
        return (
            shown.bearer is not None
            and shown.bearer.startswith(QUEUE)
            and not shown.session_token
            and not isinstance(request.parameters, Refusal)
            and (shown.idempotency_key is None or not idempotency.applies(request.operation))
            and _KINDS[request.operation.handler].takes(request.parameters)
        )

    @staticmethod
    def caller(request: Request, caller: Caller) -> bool:
        return permissions.allowed(request.operation, caller)

    @staticmethod
    def new_task(project: Project, wanted: Wanted) -> bool:
        """A task of its own, which needs no approval."""
        if wanted.parent_task_id is not None or project.settings.approvals is Approvals.ALL:
            return False
        try:
            creation_rules.refuse_command_for_others(wanted.draft)
        except Refusal:
            return False
        return True

    @staticmethod
    def dependency(project: Project, found: tuple[str, str] | None) -> bool:
        """A task of the project that can still be completed, or was."""
        return found is not None and found[0] == project.id and found[1] not in (Status.FAILED, Status.CANCELLED)

    @staticmethod
    def submitter(asked: _Asked) -> bool:
        """An agent's own key, and its own id if it names one."""
        agent = asked.caller.agent
        return agent is not None and getattr(asked.parameters, "agent_id", None) in (None, agent.id)

    @staticmethod
    def result(asked: _Asked, submitted: OneResult, held: ClaimedTask | None) -> bool:
        """The first result of a plain task that its agent holds."""
        return (
            held is not None
            and held.plain
            and held.launch_id is None
            and held.task.project_id == asked.project.id
            and held.task.in_progress
            and asked.agent_id == held.holder == held.task.assignee_id
            and held.attempt == held.task.attempt
            and submitted.attempt in (None, held.attempt)
        )

    @staticmethod
    def poll(asked: _Asked) -> bool:
        """Of a registered agent, in the project of its key."""
        agent, presence = asked.caller.agent, asked.presence
        return (
            agent is not None
            and agent.id == asked.parameters.agent_id
            and presence is not None
            and not presence.left
            and presence.project_id == asked.project.id
        )

    @staticmethod
    def ready(found: Found) -> bool:
        return found.plain


# --- the line --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """How an operation's calls are understood, and what they are answered."""

    takes: Callable[[Any], bool] = lambda _: True
    queues: Callable[[Any], Sequence[str]] = lambda _: ()
    """Those to which it files tasks."""
    files: Callable[[Any], list[Wanted]] | None = None
    once: Callable[[_Asked, list[Wanted]], idempotency.Once] | None = None
    filed: Callable[[list[Any], set[str]], JsonObject] | None = None
    """Of the tasks as they are shown, and the queues among theirs that no agent serves."""
    submits: Callable[[Any], Sequence[OneResult]] | None = None
    submitted: Callable[[list[Any]], JsonObject] | None = None


def _once_of_one(asked: _Asked, wanted: list[Wanted]) -> idempotency.Once:
    return wanted[0].once(asked.caller.actor_id, asked.project.id)


def _once_of_all(asked: _Asked, wanted: list[Wanted]) -> idempotency.Once:
    key = asked.parameters.idempotency_key
    return queue_tasks.once_for_all(asked.caller.actor_id, asked.project.id, key, wanted)


def _one_filed(tasks: list[Any], unserved: set[str]) -> JsonObject:
    return {"success": True, **tasks[0], **(queue_tasks.no_agent(tasks[0]["agent_type"]) if unserved else {})}


def _all_filed(tasks: list[Any], unserved: set[str]) -> JsonObject:
    return {**queue_tasks.filed_all([task["task_id"] for task in tasks], unserved)}


def _one_submitted(tasks: list[Any]) -> JsonObject:
    return {**task_results.answer_with(tasks[0])}


def _all_submitted(tasks: list[Any]) -> JsonObject:
    return {"success": True, "results": [queue_claims.accepted(task) for task in tasks]}


_KINDS: dict[Handler, _Kind] = {
    create_tools.create_task: _Kind(
        takes=lambda wanted: wanted.agent_type is not None,
        queues=lambda wanted: [wanted.agent_type],
        files=lambda wanted: [Wanted.of(wanted)],
        once=_once_of_one,
        filed=_one_filed,
    ),
    create_tools.create_queue_tasks: _Kind(
        queues=lambda wanted: [each.agent_type for each in wanted.tasks],
        files=lambda wanted: [Wanted.of(each) for each in wanted.tasks],
        once=_once_of_all,
        filed=_all_filed,
    ),
    task_results.submit_result: _Kind(submits=lambda submitted: [submitted], submitted=_one_submitted),
    task_results.submit_results: _Kind(submits=lambda submitted: submitted.results, submitted=_all_submitted),
    polling.poll_tasks: _Kind(),
}


_EVENTS_OF_RESULT = 3
"""At most."""
_KEYS_KNOWN = 10_000
"""Of how many keys it is remembered in which project they are."""


class QueueLine:
    """The line of one dispatcher."""

    def __init__(self, shared: context.Context) -> None:
        self.context = shared
        self.project_of: dict[str, str] = {}
        """By the hash of a key; it never changes."""

    def takes(self, asked: Request) -> bool:
        return _Plain.call(asked)

    def carry_out(
        self, connection: Connection, batch: together.Batch
    ) -> tuple[list[Answered | None], list[Answered | None]]:
        work = _Work(self, connection, batch)
        return work.carried_out()


together.declare(QueueLine, _KINDS)


class _Work:
    """One batch, in its transaction."""

    def __init__(self, line: QueueLine, connection: Connection, batch: together.Batch) -> None:
        self.line = line
        self.batch = batch
        self.tx = Transaction(connection)
        self.rows = self.tx.queue_batches
        self.seen: dict[str, Millis] = {}
        self.filed: dict[Queue, int] = {}
        """How many tasks were added to each queue."""
        self.amounts: dict[Owner, Amount] = {}
        """What is stored, and what this batch adds."""
        self._hashes: dict[str, str] = {}
        """Of the keys, by call."""

    def carried_out(self) -> tuple[list[Answered | None], list[Answered | None]]:
        requests: list[Request] = list(self.batch.asked)
        self._learn_projects(requests)
        adopted = self._adopted(requests)
        asked = self._identified([*adopted, *requests])
        known = [each for each in asked if each is not None]
        self._learn_amounts(known)
        self._file([each for each in known if _kind(each).files])
        self._submit([each for each in known if _kind(each).submits])
        self._poll([each for each in known if not _kind(each).files and not _kind(each).submits])
        answers = [None if each is None else self._answered(each) for each in asked]
        self.rows.seen(list(self.seen.items()))
        self._count_stored([each for each in known if each.answer is not None])
        self.tx.events.flush()
        if (first := next((each for each in answers if each is not None), None)) is not None:
            first.hints = frozenset(self.tx.hints)  # of the whole batch: they are sent together
        return answers[len(adopted) :], answers[: len(adopted)]

    def _learn_projects(self, requests: Sequence[Request]) -> None:
        """In which project each key is: at its first call only."""
        known = self.line.project_of
        if unknown := [each for each in map(self._hash, requests) if each not in known]:
            found = self.rows.holders(unknown)
            if len(known) > _KEYS_KNOWN:
                known.clear()
            known.update({each: holder.project.id for each, holder in found.items()})

    def _adopted(self, requests: Sequence[Request]) -> list[Request]:
        """The polls that wait for what is filed now."""
        filed: Counter[str] = Counter()
        for request in requests:
            queues = _KINDS[request.operation.handler].queues(request.parameters)
            if queues and (project_id := self.line.project_of.get(self._hash(request))) is not None:
                filed.update(mutations.queue_topic(project_id, agent_type) for agent_type in queues)
        waiting = [each for topic, count in filed.items() for each in self.batch.adopt(topic, count)]
        now = max((request.now for request in requests), default=0)
        return [replace(each, now=now) for each in waiting]

    def _hash(self, request: Request) -> str:
        """What is stored of its key."""
        found = self._hashes.get(request.once)
        if found is None:
            found = self._hashes[request.once] = digest(request.credentials.bearer or "")
        return found

    # --- who calls ---------------------------------------------------------------------------------------------------

    def _identified(self, requests: Sequence[Request]) -> list[_Asked | None]:
        """Each call with its caller, once nobody else changes their projects; None where it is not plain."""
        known = self.line.project_of
        hashes = [each for each in dict.fromkeys(map(self._hash, requests)) if each in known]
        if not hashes:
            return [None for _ in requests]
        self.tx.lock_projects({known[each] for each in hashes})
        found = self.rows.holders(hashes)
        presences = self._presences(requests, found)
        asked: list[_Asked | None] = []
        for request in requests:
            holder = found.get(self._hash(request))
            try:
                caller = holder_of(holder.key, holder.agent, holder.membership) if holder is not None else None
            except Refusal:
                caller = None
            if holder is None or caller is None or not _Plain.caller(request, caller):
                asked.append(None)
                continue
            if not self._counted(request, caller):
                asked.append(None)
                continue
            call = Call(
                self.tx,
                caller,
                request.now,
                self.line.context,
                may_wait=request.may_wait,
                correlation_id=request.credentials.correlation_id,
                once=request.once,
            )
            member = holder.membership is not None and holder.membership[1] is None
            presence = presences.get(holder.agent.id) if holder.agent is not None else None
            asked.append(_Asked(request, caller, holder.project, member, presence, call))
        return asked

    def _presences(self, requests: Sequence[Request], found: Mapping[str, KeyHolder]) -> dict[str, Presence]:
        """Of the agents that poll or submit."""
        wanted = {self._hash(each) for each in requests if not _KINDS[each.operation.handler].files}
        agents = {each: holder.agent.id for each, holder in found.items() if holder.agent is not None}
        here = [agents[each] for each in wanted if each in agents]
        return self.rows.presences(here) if here else {}

    def _counted(self, request: Request, caller: Caller) -> bool:
        """Whether its key may call now; each call counts once."""
        assert caller.key is not None
        if request.again or request.once in self.batch.counted:
            return True
        if self.line.context.keys.wait_seconds(caller.key.id, request.now / SECOND):
            return False
        self.batch.counted.add(request.once)
        return True

    def _is_here(self, asked: _Asked) -> None:
        """As `claims.seen`, stored with all others."""
        presence = asked.presence
        if presence is None or asked.agent_id in self.seen:
            return
        after = queue_claims.noticed(asked.call, presence)
        if after is not None:
            self.seen[presence.agent_id] = after.seen_at

    # --- how much may be stored --------------------------------------------------------------------------------------

    def _learn_amounts(self, asked: Sequence[_Asked]) -> None:
        storing = {owner for each in asked if _stores(each) for owner in _owners(each)}
        self.amounts = dict(self.tx.stored_amounts.of(storing)) if storing else {}

    def _with_room(self, asked: _Asked, tasks: int, events: int) -> bool:
        """Whether all that it adds certainly fits; it is taken into account from now on. What does not, the handlers
        refuse."""
        more = Amount(stored_limits.size_of(asked.request.arguments, events), tasks)
        both, settings = _owners(asked), self.line.context.settings
        if not all(stored_limits.fits(settings, each[1], self.amounts.get(each, Amount()), more) for each in both):
            return False
        for each in both:
            before = self.amounts.get(each, Amount())
            self.amounts[each] = Amount(before.bytes + more.bytes, before.tasks + more.tasks)
        return True

    def _count_stored(self, asked: Sequence[_Asked]) -> None:
        """As `stored_limits.count`, for all calls at once."""
        stored: dict[Owner, Amount] = {}
        for each in asked:
            events = self.tx.events.collected[each.first_event : each.end_of_events]
            if not events or not _stores(each):
                continue
            size = stored_limits.size_of(each.request.arguments, len(events))
            for owner in _owners(each):
                before = stored.get(owner, Amount())
                stored[owner] = Amount(before.bytes + size, before.tasks + stored_limits.created(events))
        self.tx.stored_amounts.add(stored)

    # --- filing ------------------------------------------------------------------------------------------------------

    def _file(self, asked: Sequence[_Asked]) -> None:
        wanted = [(each, files(each.parameters)) for each in asked if (files := _kind(each).files) is not None]
        wanted = [(each, tasks) for each, tasks in wanted if all(_Plain.new_task(each.project, task) for task in tasks)]
        wanted = self._with_dependencies(self._for_the_first_time(wanted))
        wanted = [(each, tasks) for each, tasks in wanted if self._with_room(each, len(tasks), len(tasks))]
        if not wanted:
            return
        queues = {(each.project.id, task.agent_type) for each, tasks in wanted for task in tasks}
        served = self.rows.served(queues)
        made = [(each, self._made_all(each, tasks)) for each, tasks in wanted]
        self.rows.add_tasks([(task, details) for _, tasks in made for task, details, _ in tasks])
        self.rows.connect([(task, other) for _, tasks in made for task, _, others in tasks for other in others])
        once: list[tuple[OnceKey, str, Any, Millis]] = []
        for (each, wishes), (_, tasks) in zip(wanted, made, strict=True):
            kind = _kind(each)
            assert kind.filed is not None
            shown = [queue_tasks.shown(task, details, others) for task, details, others in tasks]
            unserved = {task.agent_type for task in wishes if (each.project.id, task.agent_type) not in served}
            each.answer = kind.filed(shown, unserved)
            if (key := _once(each, wishes)) is not None:
                kept = tasks[0][0].id if kind.once is _once_of_one else [task.id for task, _, _ in tasks]
                once.append(((key.who, key.scope, key.key or ""), key.content, kept, each.call.now))
        self.rows.remember(once)

    def _for_the_first_time(self, wanted: list[tuple[_Asked, list[Wanted]]]) -> list[tuple[_Asked, list[Wanted]]]:
        """Without those whose idempotency key was used before, or by another call of this batch."""
        keys = {id(each): once for each, tasks in wanted if (once := _once(each, tasks)) is not None}
        if not keys:
            return wanted
        used, first = self.rows.remembered([(each.who, each.scope, each.key or "") for each in keys.values()]), []
        for each, tasks in wanted:
            once = keys.get(id(each))
            own = (once.who, once.scope, once.key or "") if once is not None else None
            if own is None or own not in used:
                first.append((each, tasks))
            if own is not None:
                used.add(own)
        return first

    def _with_dependencies(self, wanted: list[tuple[_Asked, list[Wanted]]]) -> list[tuple[_Asked, list[Wanted]]]:
        """Without those that depend on what will never be completed."""
        others = {other for _, tasks in wanted for task in tasks for other in task.dependencies}
        if not others:
            return wanted
        found = self.rows.statuses(others)
        return [
            (each, tasks)
            for each, tasks in wanted
            if all(_Plain.dependency(each.project, found.get(other)) for task in tasks for other in task.dependencies)
        ]

    def _made_all(self, asked: _Asked, wanted: Sequence[Wanted]) -> list[tuple[Task, Details, list[str]]]:
        asked.first_event = len(self.tx.events.collected)
        made = [self._made(asked, task, place) for place, task in enumerate(wanted)]
        asked.end_of_events = len(self.tx.events.collected)
        return made

    def _made(self, asked: _Asked, wanted: Wanted, place: int) -> tuple[Task, Details, list[str]]:
        """A new task, with its event and hints; stored with all others."""
        call, draft = asked.call, wanted.draft
        call.correlation_id = wanted.correlation_id or asked.request.credentials.correlation_id
        task_id = call.new_id(ids.TASK, draft.title)
        task = mutations.new_task(
            call, asked.project, None, draft, task_id, place, Approval.APPROVED, Status.TODO, None
        )
        call.event("task.created", task=task, fact=True, data={"title": task.title, "status": task.status.value})
        if wanted.timeout_seconds is not None or wanted.max_attempts is not None:
            limits: Any = {"timeout_seconds": wanted.timeout_seconds, "max_attempts": wanted.max_attempts}
            task = replace(task, **limits, version=task.version + 1)
        own = (asked.project.id, wanted.agent_type)
        self.filed[own] = self.filed.get(own, 0) + 1
        self.tx.hint(mutations.ready_topic(wanted.agent_type, task.id))
        self._hint(task)
        return task, mutations.details_of(draft), list(dict.fromkeys(wanted.dependencies))

    # --- submitting --------------------------------------------------------------------------------------------------

    def _submit(self, asked: Sequence[_Asked]) -> None:
        given = [
            (each, submits(each.parameters))
            for each in asked
            if _Plain.submitter(each) and (submits := _kind(each).submits) is not None
        ]
        if not given:
            return
        held = self.rows.held({each.task_id for _, results in given for each in results})
        taken: set[str] = set()
        plain: list[tuple[_Asked, list[tuple[OneResult, ClaimedTask]]]] = []
        for each, results in given:
            own = [(result, held[result.task_id]) for result in results if result.task_id in held]
            first = len({result.task_id for result in results} - taken) == len(results) == len(own)
            plain_results = first and all(_Plain.result(each, result, task) for result, task in own)
            if plain_results and self._with_room(each, 0, _EVENTS_OF_RESULT * len(own)):
                plain.append((each, own))
                taken.update(result.task_id for result in results)
        if not plain:
            return
        ended = [(each, self._ended_all(each, own)) for each, own in plain]
        self.rows.end([pair for _, tasks in ended for pair in tasks])
        self.rows.end_claims(
            [
                (task.task.id, task.attempt, _reason(result), task_results.outcome_of(result), each.call.now)
                for each, own in plain
                for result, task in own
            ]
        )
        self._hint_dependants([task.task.id for _, own in plain for _, task in own if task.has_dependants], ended)
        depends_on = self._edges([task.task.id for _, own in plain for _, task in own if task.has_dependencies])
        for each, tasks in ended:
            shown = [queue_tasks.shown(task, details, depends_on.get(task.id, [])) for task, details in tasks]
            if (answer := _kind(each).submitted) is not None:
                each.answer = answer(shown)

    def _ended_all(self, asked: _Asked, own: Sequence[tuple[OneResult, ClaimedTask]]) -> list[tuple[Task, Details]]:
        asked.first_event = len(self.tx.events.collected)
        self._is_here(asked)
        ended = [self._ended(asked, submitted, held) for submitted, held in own]
        asked.end_of_events = len(self.tx.events.collected)
        return ended

    def _ended(self, asked: _Asked, submitted: OneResult, held: ClaimedTask) -> tuple[Task, Details]:
        """The task after its result, with its events and hints; stored with all others."""
        if submitted.status == "failed" and submitted.retryable:
            task, error = self._given_up(asked, held), submitted.error
            if task.closed:
                error = queue_claims.last_error(error)
            details = replace(held.details, error=error)
        else:
            to, reason = task_results.end_of(submitted)
            task = self._moved(asked, held.task, to, reason)
            details = replace(held.details, result=submitted.result, error=submitted.error)
        self._hint(task)
        return task, details

    def _moved(self, asked: _Asked, task: Task, to: Status, reason: str | None, *, by_toryo: bool = False) -> Task:
        """As `mutations.move` out of `in_progress`, for a task with no others around it."""
        now = asked.call.now
        after = replace(
            task,
            status=to,
            moved_at=now,
            updated_at=now,
            completed_at=now if to is not Status.TODO else task.completed_at,
            wait=None,
            unreported_ends=0,
            moved_session=None,
            moved_from=task.status,
            version=task.version + 1,
        )
        actor = queue_claims.TORYO if by_toryo else asked.call.actor
        mutations.tell_of_move(asked.call, Change(task, after, verb(task.status, to)), actor, reason)
        return after

    def _given_up(self, asked: _Asked, held: ClaimedTask) -> Task:
        """As `claims.lose` for a retryable failure: it is tried again after a rest, while attempts are left."""
        task = held.task
        queue_claims.tell_of_loss(asked.call, task, held.holder, held.attempt, "failed")
        if not queue_claims.attempts_left(task):
            return self._moved(asked, task, Status.FAILED, queue_claims.EXHAUSTED, by_toryo=True)
        back = self._moved(asked, task, Status.TODO, "failed", by_toryo=True)
        self.tx.hint(*_topics_of_ready(back))
        not_before = asked.call.now + queue.backoff(held.attempt)
        return replace(queue_claims.given_back(back, back.attempt + 1, not_before), version=back.version + 1)

    def _hint_dependants(
        self, waited_for: Sequence[str], ended: Sequence[tuple[_Asked, Sequence[tuple[Task, Details]]]]
    ) -> None:
        """Wakes who polls for the tasks that waited for those that are closed now."""
        closed = {task.id for _, tasks in ended for task, _ in tasks if task.closed}
        waited_for = [each for each in waited_for if each in closed]
        if not waited_for:
            return
        for waiting in self.rows.dependants(waited_for).values():
            for (project_id, agent_type), task_id in waiting:
                self.tx.hint(mutations.queue_topic(project_id, agent_type), mutations.ready_topic(agent_type, task_id))

    # --- polling -----------------------------------------------------------------------------------------------------

    def _poll(self, asked: Sequence[_Asked]) -> None:
        polls = [each for each in asked if _Plain.poll(each)]
        hands = _Hands()
        if polls:
            now = max(each.call.now for each in polls)
            agents, projects = {each.agent_id for each in polls}, {each.project.id for each in polls}
            standing = self.rows.standing(agents, projects, now)
            polls = [each for each in polls if each.project.id not in standing.lapsed]
            polls = [each for each in polls if standing.held.get(each.agent_id, 0) < queue.CLAIMED_AT_ONCE]
            self._hand_out(polls, _Room(standing.held, standing.busy), hands, now)
        # Who waits is woken for what is filed, unless it was handed out at once.
        for own, count in self.filed.items():
            if not (own in hands.looked_at and own not in hands.left) or count == 0:
                self.tx.hint(mutations.queue_topic(*own))

    def _hand_out(self, polls: Sequence[_Asked], room: _Room, hands: _Hands, now: Millis) -> None:
        if not polls:
            return
        by_queue: dict[Queue, list[_Asked]] = {}
        for each in polls:
            by_queue.setdefault(_queue(each), []).append(each)
        most = max(sum(each.parameters.max_tasks for each in those) for those in by_queue.values()) + 1
        ready = self.rows.ready([own for own, those in by_queue.items() if those[0].project.active], now, most)
        taken: list[tuple[_Asked, list[Found]]] = []
        for own, those in by_queue.items():
            taken += self._handed_out(own, those, ready.get(own, []), room, hands)
        started = [(each, self._started_all(each, those)) for each, those in taken]
        self.rows.start([task for _, tasks in started for task, _ in tasks])
        self.rows.add_claims([claim for _, tasks in started for _, claim in tasks])
        depends_on = self._edges([found.task.id for _, those in taken for found in those if found.has_dependencies])
        idle = [each for each, those in taken if not those and each.parameters.wait_seconds and each.call.may_wait]
        retries = self.rows.retries({_queue(each) for each in idle}, now) if idle else {}
        for (each, found), (_, tasks) in zip(taken, started, strict=True):
            if each in idle:
                own = _queue(each)
                each.later = Later(polling.topics(*own), retries.get(own))
            else:
                shown = [
                    queue_tasks.shown(task, one.details, depends_on.get(task.id, []))
                    for (task, _), one in zip(tasks, found, strict=True)
                ]
                each.answer = {"success": True, "result": shown}

    def _handed_out(
        self, own: Queue, polls: Sequence[_Asked], ready: Sequence[Found], room: _Room, hands: _Hands
    ) -> list[tuple[_Asked, list[Found]]]:
        """Who gets which tasks of a queue, in its order. Polls that come to a task that is not plain are left."""
        taken: list[tuple[_Asked, list[Found]]] = []
        place = 0
        hands.looked_at.add(own)
        for each in polls:
            many = min(each.parameters.max_tasks, room.of_claims(each))
            those = ready[place : place + many]
            if not all(_Plain.ready(found) for found in those):
                break
            if len(those) > room.in_parallel(each):
                continue
            place += len(those)
            room.take(each, len(those))
            taken.append((each, list(those)))
            if len(those) == many and place < len(ready):
                self.tx.hint(mutations.queue_topic(*own))  # there is work for more
        if place < len(ready):
            hands.left.add(own)
        return taken

    def _started_all(self, asked: _Asked, those: Sequence[Found]) -> list[tuple[Task, Claim]]:
        asked.first_event = len(self.tx.events.collected)
        self._is_here(asked)
        started = [self._started(asked, found) for found in those]
        asked.end_of_events = len(self.tx.events.collected)
        return started

    def _started(self, asked: _Asked, found: Found) -> tuple[Task, Claim]:
        """As `claims.claim`, for a task with no others around it, with its events and hints; stored with all others."""
        call, task, agent_id = asked.call, found.task, asked.agent_id
        after = replace(
            task,
            assignee_id=agent_id,
            not_before=None,
            status=Status.IN_PROGRESS,
            moved_at=call.now,
            updated_at=call.now,
            started_at=task.started_at or call.now,
            moved_session=None,
            moved_from=task.status,
            version=task.version + 1,
        )
        mutations.tell_of_move(call, Change(task, after, verb(task.status, after.status)), call.actor, None)
        call.event("claim.taken", task=after, agent_id=agent_id, data={"attempt": task.attempt, "launch_id": None})
        self._hint(after)
        return after, queue_claims.new_claim(call, task, agent_id, None)

    # --- storing -----------------------------------------------------------------------------------------------------

    def _hint(self, task: Task) -> None:
        """As `mutations.hint`, without what a closed or ready task means for its queue."""
        self.tx.hint(WORK, f"task:{task.root_id}", f"project:{task.project_id}")

    def _edges(self, task_ids: list[str]) -> dict[str, list[str]]:
        return self.tx.tasks.depends_on(task_ids) if task_ids else {}

    def _answered(self, asked: _Asked) -> Answered | None:
        if asked.later is not None:
            outcome = Outcome(None, later=asked.later, operation=asked.request.operation)
        elif asked.answer is not None:
            outcome = Outcome(asked.answer, operation=asked.request.operation)
        else:
            return None
        events = tuple(self.tx.events.collected[asked.first_event : asked.end_of_events])
        return Answered(outcome, frozenset(), asked.caller, events)


@dataclass(slots=True)
class _Hands:
    """Which queues were looked at, and which have ready tasks left."""

    looked_at: set[Queue] = field(default_factory=set)
    left: set[Queue] = field(default_factory=set)


@dataclass(slots=True)
class _Room:
    """How much the agents of a batch have taken: claims, and main tasks in progress by project."""

    held: dict[str, int]
    busy: dict[tuple[str, str], int]

    def of_claims(self, asked: _Asked) -> int:
        return queue.CLAIMED_AT_ONCE - self.held.get(asked.agent_id, 0)

    def in_parallel(self, asked: _Asked) -> int:
        """How many main tasks it may still take. Behind the first one too many there could be a part of one it has."""
        agent = asked.caller.agent
        assert agent is not None
        busy = self.busy.get((agent.id, asked.project.id), 0)
        return agent.max_parallel_tasks - busy if asked.member else 0

    def take(self, asked: _Asked, count: int) -> None:
        key = (asked.agent_id, asked.project.id)
        self.held[asked.agent_id] = self.held.get(asked.agent_id, 0) + count
        self.busy[key] = self.busy.get(key, 0) + count


def _kind(asked: _Asked) -> _Kind:
    return _KINDS[asked.request.operation.handler]


def _stores(asked: _Asked) -> bool:
    return stored_limits.counts(asked.request.operation, asked.caller)


def _owners(asked: _Asked) -> Sequence[Owner]:
    return stored_limits.owners(asked.project.id, asked.caller.actor_id)


def _once(asked: _Asked, wanted: list[Wanted]) -> idempotency.Once | None:
    """The call's idempotency key with what it stands for, if it has one."""
    once = _kind(asked).once
    return once(asked, wanted) if once is not None and asked.parameters.idempotency_key is not None else None


def _queue(asked: _Asked) -> Queue:
    assert asked.presence is not None
    return asked.project.id, asked.presence.agent_type


def _reason(submitted: OneResult) -> str:
    return "failed" if submitted.status == "failed" and submitted.retryable else "submitted"


def _topics_of_ready(task: Task) -> tuple[str, str]:
    agent_type = task.agent_type or ""
    return mutations.queue_topic(task.project_id, agent_type), mutations.ready_topic(agent_type, task.id)

"""A database with a long past: tasks, events, claims, launches, talk, written by SQL in seconds.

What is open stays the same however long the past is, so that a read that grows with the past shows it. The rows are
those that the product writes, as far as the reads look at them; the rules were not asked.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa

from toryo.storage import schema, statistics
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement

HOUR, DAY = 3_600_000, 86_400_000
OWNER, QUEUE = "owner", "review"


@dataclass(frozen=True, slots=True)
class Past:
    """How much of everything. The tasks are spread over the projects, the open ones are those of `open_tasks`."""

    tasks: int = 100_000
    events: int = 4
    """Of each task."""
    projects: int = 2
    agents: int = 64
    """Members of the first project, all of them online at its queue."""
    claims: int = 0
    """That are alive, in the first project."""
    open_tasks: int = 400
    days: int = 365
    """How far the past reaches back."""


def project(number: int = 0) -> str:
    return f"project-{number}"


def agent(number: int = 0) -> str:
    return f"agent-{number}"


def fill(database: Database, past: Past, now: int | None = None) -> None:
    """Into a database with tables and without projects. Indexes are made afterwards, which is twice as fast."""
    instant = int(time.time() * 1000) if now is None else now
    indexes = [each for table in schema.metadata.sorted_tables for each in sorted(table.indexes, key=str)]
    database.write(lambda connection: [connection.define(sa.schema.DropIndex(each)) for each in indexes])
    for text in _statements(past, instant):
        database.write(partial(_run, text=text))
    database.write(lambda connection: [connection.define(sa.schema.CreateIndex(each)) for each in indexes])
    database.write(statistics.collect)


def _run(connection: Connection, text: str) -> None:
    if connection.dialect == "postgresql" and connection.value(_MAY_LEAVE_CHECKS) == "on":
        connection.define("SET LOCAL session_replication_role = replica")  # foreign keys are not looked up
    connection.run(Statement(sa.text(text.replace(":", "\\:"))))


_MAY_LEAVE_CHECKS = Statement(sa.text("SELECT current_setting('is_superuser')"))


def _statements(past: Past, now: int) -> list[str]:
    """One INSERT … SELECT for each table: the same text serves both databases."""
    tasks, begun = past.tasks, now - past.days * DAY
    step = max(1, past.days * DAY // tasks)
    main = "(n - n % 5)"  # every fifth task is the parent of the next four
    at = f"({begun} + n * {step})"
    is_open = f"n >= {tasks - past.open_tasks}"
    is_queue = f"(n / 5) % 2 = 0 AND NOT ({is_open})"
    claimed = f"n >= {tasks} AND n < {tasks + past.claims}"
    where = f"CASE WHEN {claimed} THEN 'project-0' ELSE 'project-' || ((n / 5) % {past.projects}) END"
    status = (
        f"CASE WHEN {claimed} THEN 'in_progress' WHEN {is_open} AND n % 5 = 0 THEN 'in_progress' "
        f"WHEN {is_open} AND n % 10 = 1 THEN 'blocked' WHEN {is_open} AND n % 10 = 2 THEN 'backlog' "
        f"WHEN {is_open} THEN 'todo' WHEN n % 29 = 3 THEN 'failed' WHEN n % 31 = 3 THEN 'cancelled' "
        "ELSE 'completed' END"
    )
    queue = f"CASE WHEN {is_queue} OR {claimed} OR ({is_open} AND n % 10 = 4) THEN '{QUEUE}' END"
    in_queue = f"({is_queue} OR {is_open} AND n % 10 = 4)"
    assignee = f"CASE WHEN {claimed} OR NOT {in_queue} THEN 'agent-' || (n % {past.agents}) END"
    ended = f"CASE WHEN NOT ({is_open}) AND NOT ({claimed}) THEN {at} + {HOUR} END"
    main_of = f"CASE WHEN {is_queue} OR {claimed} THEN 'task-' || n ELSE 'task-' || {main} END"
    history = tasks - past.open_tasks
    live = f"n < {past.agents // 2}"
    role = "CASE WHEN n % 8 = 0 THEN 'manager' ELSE 'worker' END"
    started, launched = (
        f"CASE WHEN NOT ({is_open}) THEN {at} END",
        f"CASE WHEN {live} THEN 'signed_in' ELSE 'exited' END",
    )
    kind = f"CASE n % {past.events} WHEN 0 THEN 'task.created' WHEN 1 THEN 'task.started' ELSE 'task.completed' END"
    fifth = f"{begun} + n * {step * 5}"
    over = f"CASE WHEN NOT ({live}) THEN {fifth} + {HOUR} END"
    low, high = f"'agent-' || (n % {past.agents})", f"'agent-' || (n % {past.agents}) || 'x'"
    return [
        _rows(
            "projects",
            past.projects,
            id="'project-' || n",
            name="'P' || n",
            status="'active'",
            settings="'{}'",
            created_at=str(begun),
            updated_at=str(begun),
        ),
        _rows(
            "agents",
            past.agents,
            id="'agent-' || n",
            name="'A' || n",
            kind="'ai'",
            role=role,
            reports_to="CASE WHEN n % 8 > 0 THEN 'agent-' || (n - n % 8) END",
            status="'active'",
            provider="'none'",
            agent_type=f"'{QUEUE}'",
            capabilities="'[]'",
            max_parallel_tasks="1",
            provider_options="'{}'",
            created_at=str(begun),
            updated_at=str(begun),
        ),
        _rows("memberships", past.agents, project_id="'project-0'", agent_id="'agent-' || n", created_at=str(begun)),
        _rows(
            "memberships",
            past.projects * 3,
            project_id="'project-' || (n / 3)",
            agent_id="'agent-' || (n % 3)",
            created_at=str(begun),
        )
        + " WHERE n >= 3",
        _rows(
            "presences",
            past.agents,
            agent_id="'agent-' || n",
            project_id="'project-0'",
            agent_type=f"'{QUEUE}'",
            registered_at=str(begun),
            seen_at=str(now),
            offline_at="NULL",
        ),
        _rows(
            "tasks",
            tasks + past.claims,
            id="'task-' || n",
            project_id=where,
            root_id=main_of,
            parent_id=f"CASE WHEN NOT ({is_queue}) AND NOT ({claimed}) AND n % 5 > 0 THEN 'task-' || {main} END",
            depth=f"CASE WHEN NOT ({is_queue}) AND NOT ({claimed}) AND n % 5 > 0 THEN 1 ELSE 0 END",
            ordinal="0",
            title="'Task ' || n",
            status=status,
            priority="n % 4",
            assignee_id=assignee,
            agent_type=queue,
            created_by=f"'{OWNER}'",
            approval=f"CASE WHEN {is_open} AND n % 20 = 2 THEN 'pending_approval' ELSE 'approved' END",
            requested_by="CASE WHEN n % 20 = 2 THEN 'agent-1' END",
            created_at=at,
            updated_at=at,
            moved_at=at,
            line_at=at,
            attempt="1",
            checks="'none'",
            correlation_id="CASE WHEN n % 5 = 0 THEN 'request-' || n END",
            started_at=started,
            completed_at=ended,
            stalled_event=f"CASE WHEN {is_open} AND n % 50 = 0 THEN 1 END",
            timeout_seconds="3600",
            max_attempts="3",
            version="1",
            description="'What is to be done, in a few words.'",
            summary=f"CASE WHEN NOT ({is_open}) THEN 'It was done.' END",
        ),
        _rows(
            "dependencies",
            tasks,
            task_id="'task-' || n",
            depends_on="'task-' || (n - 1)",
            root_id=main_of,
        )
        + f" WHERE NOT ({is_queue}) AND n % 5 > 1",
        _rows(
            "claims",
            tasks + past.claims,
            task_id="'task-' || n",
            attempt="1",
            project_id=where,
            agent_id=f"'agent-' || (n % {past.agents})",
            claimed_at=at,
            expires_at=f"CASE WHEN {claimed} THEN {now + DAY} ELSE {at} + {HOUR} END",
            lease=str(HOUR),
            ended_at=ended,
            end_reason=f"CASE WHEN NOT ({claimed}) THEN 'completed' END",
        )
        + f" WHERE {is_queue} OR {claimed}",
        _rows(
            "launches",
            history // 5,
            id="'launch-' || n",
            agent_id=f"'agent-' || (n % {past.agents})",
            project_id=f"'project-' || (n % {past.projects})",
            purpose="'task'",
            task_id="'task-' || (n * 5)",
            reason="'assigned'",
            fence="n",
            state=launched,
            provider="'none'",
            coordinator_id="'coordinator-0'",
            ordered_at=fifth,
            deadline=fifth,
            signed_in_at=fifth,
            ended_at=over,
            exit_reported_at=over,
            exit_code=f"CASE WHEN NOT ({live}) THEN 0 END",
            credential_hash="'hash-' || n",
        ),
        _rows(
            "sessions",
            history // 5,
            id="'session-' || n",
            agent_id=f"'agent-' || (n % {past.agents})",
            project_id=f"'project-' || (n % {past.projects})",
            purpose="'task'",
            task_id="'task-' || (n * 5)",
            launch_id="'launch-' || n",
            lease_seconds="3600",
            created_at=fifth,
            expires_at=f"CASE WHEN {live} THEN {now + DAY} ELSE {fifth} END",
            last_call_at=f"CASE WHEN {live} THEN {now} ELSE {fifth} END",
            heard_at=f"CASE WHEN {live} THEN {now} ELSE {fifth} END",
            patience="3600",
            ended_at=over,
            end_reason=f"CASE WHEN NOT ({live}) THEN 'reported' END",
            token_hash="'token-' || n",
        ),
        _rows(
            "usages",
            history // 5,
            launch_id="'launch-' || n",
            project_id=f"'project-' || (n % {past.projects})",
            agent_id=f"'agent-' || (n % {past.agents})",
            task_id="'task-' || (n * 5)",
            purpose="'task'",
            day=f"({fifth}) / {DAY}",
            input_tokens="1000",
            output_tokens="100",
            cost_usd="0.25",
            turns="5",
            tool_calls="9",
            updated_at=fifth,
        ),
        _rows(
            "threads",
            history // 20,
            project_id="'project-0'",
            thread="'thread-' || n",
            low_id=low,
            high_id=high,
            newest="1",
            newest_at=at,
            seen_low="1",
            seen_high="1",
        ),
        _rows("logs", history // 5, launch_id="'launch-' || n", length="12", text="'It is done.\n'"),
        _rows("notes", history // 5, id="'note-' || n", task_id="'task-' || n", author_id="'agent-1'", created_at=at),
        _rows(
            "handoffs",
            history // 20,
            id="'handoff-' || n",
            task_id="'task-' || n",
            from_agent_id="'agent-1'",
            summary="''",
            created_at=at,
        ),
        _rows(
            "memories",
            2_000,
            id="'memory-' || n",
            project_id=f"'project-' || (n % {past.projects})",
            text="'A fact.'",
            alike="'fact-' || n",
            author_id=f"'agent-' || (n % {past.agents})",
            task_id=f"'task-' || (n % {past.tasks})",
            created_at=at,
        ),
        _rows(
            "search_terms",
            history,
            project_id=f"'project-' || (n % {past.projects})",
            kind="'task'",
            term="'term-' || (n % 500)",
            source_id="'task-' || n",
            task_id="'task-' || n",
        ),
        _rows(
            "notifications",
            history // 5,
            id="'notification-' || n",
            project_id="'project-0'",
            agent_id="'agent-1'",
            purpose="'task'",
            session_id="'session-' || n",
            kind="'moved'",
            message="''",
            created_at=at,
            delivered_at=at,
        ),
        _rows(
            "messages",
            history // 5,
            id="'message-' || n",
            project_id=f"'project-' || (n % {past.projects})",
            sequence="n + 1",
            thread=f"'agent-' || (n % {past.agents}) || ':{OWNER}'",
            from_agent_id=f"'agent-' || (n % {past.agents})",
            to_agent_id=f"'agent-' || ((n + 1) % {past.agents})",
            kind="'message'",
            related_task_id="CASE WHEN n % 2 = 0 THEN 'task-' || n END",
            created_at=at,
            content="'Hello.'",
        ),
        _rows(
            "mailboxes",
            past.agents,
            project_id="'project-0'",
            agent_id="'agent-' || n",
            cursor="9",
            newest="1",
            waiting_since="0",
        ),
        _rows(
            "conversations",
            history // 20,
            id="'conversation-' || n",
            project_id="'project-0'",
            low_id=low,
            high_id=high,
            initiator_id="'agent-1'",
            partner_id="'agent-2'",
            state="'ended'",
            created_at=at,
            last_turn_at=at,
            ended_at=at,
            settled="TRUE",
        ),
        _rows(
            "delegations",
            history // 20,
            id="'delegation-' || n",
            project_id="'project-0'",
            agent_id="'agent-1'",
            task_id="'task-' || (n * 5)",
            root_id="'task-' || (n * 5)",
            target_agent_id="'agent-2'",
            await_result="TRUE",
            status="'completed'",
            created_at=at,
            ended_at=at,
        ),
        _rows(
            "worktrees",
            history // 10,
            task_id="'task-' || (n * 5)",
            project_id=f"'project-' || (n % {past.projects})",
            coordinator_id="'coordinator-0'",
            path="'/tmp/worktree-' || n",
            branch="'branch-' || n",
            state=f"CASE WHEN n % {max(1, history // 200)} = 7 THEN 'open' ELSE 'merged' END",
            created_at=at,
            updated_at=at,
        ),
        _rows(
            "worktree_jobs",
            history // 10,
            id="'job-' || n",
            kind="'merge'",
            task_id="'task-' || (n * 5)",
            project_id="'project-0'",
            coordinator_id="'coordinator-0'",
            created_at=at,
            taken_at=at,
            finished_at=at,
            done="TRUE",
        ),
        _rows(
            "checks",
            history // 10,
            id="'check-' || n",
            task_id="'task-' || (n * 5)",
            project_id="'project-0'",
            launch_id="'launch-' || n",
            created_at=at,
            taken_at=at,
            finished_at=at,
        ),
        _rows(
            "notices",
            history // 20,
            id="'notice-' || n",
            person_id="'agent-0'",
            key="'need-' || n",
            channel="'mail'",
            content="''",
            created_at=at,
            sent_at=at,
            over_at=at,
        ),
        _rows(
            "viewers",
            history // 20,
            id="'viewer-' || n",
            project_id="'project-0'",
            agent_id="'agent-1'",
            person_id="'agent-0'",
            opened_at=at,
            seen_at=at,
            closed_at=at,
        ),
        _rows(
            "batches",
            history // 5,
            agent_id="'agent-1'",
            scope="'create'",
            key="'key-' || n",
            content="''",
            answer="'{}'",
            created_at=at,
        ),
        _rows("coordinators", 1, id="'coordinator-0'", providers="'[]'", seen_at=str(now), running="0"),
        _rows(
            "events",
            tasks * past.events,
            id="'event-' || n",
            at=f"{begun} + n * {max(1, past.days * DAY // (tasks * past.events))}",
            actor_id=f"'agent-' || (n % {past.agents})",
            kind=kind,
            fact="(n % 40 = 0)",
            project_id=f"'project-' || ((n / {past.events * 5}) % {past.projects})",
            root_id=f"'task-' || (n / {past.events} - (n / {past.events}) % 5)",
            task_id=f"'task-' || (n / {past.events})",
            agent_id=f"'agent-' || (n % {past.agents})",
            data="'{}'",
        ),
    ]


def _rows(name: str, many: int, /, **values: str) -> str:
    """`INSERT … SELECT` of `many` rows numbered `n`; columns that are not named get nothing, 0 or FALSE."""
    table = schema.metadata.tables[name]
    for column in table.columns:
        if column.name not in values and not column.nullable and column.autoincrement is not True:
            values[column.name] = _nothing(column)
    names = ", ".join(f'"{each}"' for each in values)
    numbers = f"WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {many})"
    wide = "SELECT CAST(n AS BIGINT) AS n FROM numbers"
    return f"INSERT INTO {name} ({names}) {numbers} SELECT {', '.join(values.values())} FROM ({wide}) AS numbered"


def _nothing(column: sa.Column[object]) -> str:
    if isinstance(column.type, sa.Boolean):
        return "FALSE"
    return "''" if isinstance(column.type, sa.Text) else "0"

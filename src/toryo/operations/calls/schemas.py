"""The shapes of tasks, agents, launches … in answers. OpenAPI and the dashboard's types are generated from them;
`rendering.py` and the groups fill them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from toryo.domain.tasks import AcceptanceCheck, CheckEvidence, CheckFailure
from toryo.operations.calls.callers import Login

ChecksName = Literal["none", "running", "in_review", "passed", "failed"]
StatusName = Literal["backlog", "todo", "in_progress", "blocked", "completed", "failed", "cancelled"]
QueueStatus = Literal["pending", "backlog", "todo", "in_progress", "blocked", "completed", "failed", "cancelled"]
PriorityName = Literal["critical", "high", "medium", "low"]
RoleName = Literal["owner", "manager", "worker"]
KindName = Literal["ai", "human"]
AgentStatus = Literal["active", "inactive"]
PurposeName = Literal["task", "chat"]
NetworkName = Literal["off", "model", "allowlist", "open"]
IsolationName = Literal["none", "worktree"]
StartName = Literal["when_ready", "manual"]
LanguageName = Literal["en", "ja"]
WorktreeJobKind = Literal[
    "diff",
    "merge",
    "discard",
    "clean",
    "queue_merge",
    "merge_subtasks",
    "checks",
    "base_checks",
    "command",
    "pull_request",
]
FileChangeName = Literal["added", "deleted", "modified", "renamed", "copied", "type changed"]


class Pool(TypedDict):
    """The task goes to the first free worker with all these `capabilities`."""

    capabilities: list[str]


class BriefTask(TypedDict):
    task_id: str
    id: str
    title: str
    status: StatusName
    priority: PriorityName
    assignee_id: str | None


class PullRequest(TypedDict):
    """The pull request of a task's work. `state`: when it was last looked at; a closed one was not merged."""

    url: str
    number: int
    state: Literal["open", "merged", "closed"]


class RequestedChanges(TypedDict):
    """The open task that makes the changes which were requested in a review."""

    task_id: str
    title: str
    status: StatusName
    assignee_id: str | None
    requested_by: str


class TaskOfReview(TypedDict):
    """The other task of a review: the one in which an agent reviews, or the one whose work is reviewed."""

    task_id: str
    title: str
    status: StatusName
    assignee_id: str | None


class Task(BriefTask):
    project_id: str
    description: str
    agent_type: str | None
    parent_task_id: str | None
    dependencies: list[str]
    approval: Literal["approved", "pending_approval", "rejected"]
    approved_by: str | None
    blocked_reason: str | None
    blocked_by: str | None
    result: Any
    summary: str | None
    error: str | None
    attempt: int
    created_by: str
    requested_by: str | None
    correlation_id: str | None
    created_at: str
    updated_at: str
    started_at: str | None
    completed_at: str | None
    version: int
    dependency_failed: NotRequired[bool]
    rejected_by: NotRequired[str]
    rejection_reason: NotRequired[str | None]
    pool: NotRequired[Pool]


class ListedTask(TypedDict):
    """A task in a list for agents: what there is to say of it."""

    task_id: str
    title: str
    status: StatusName
    priority: PriorityName
    assignee_id: str | None
    dependencies: list[str]
    approval: Literal["approved", "pending_approval", "rejected"]
    description: NotRequired[str]
    agent_type: NotRequired[str | None]
    parent_task_id: NotRequired[str | None]
    dependency_failed: NotRequired[bool]
    blocked_reason: NotRequired[str | None]
    blocked_by: NotRequired[str | None]
    rejected_by: NotRequired[str]
    rejection_reason: NotRequired[str | None]
    summary: NotRequired[str | None]
    error: NotRequired[str | None]
    attempt: NotRequired[int]
    completed_at: NotRequired[str | None]


class Handoff(TypedDict):
    """What one agent knows about a task, for another agent or for the next session of the task."""

    handoff_id: str
    task_id: str
    from_agent_id: str
    to_agent_id: str | None
    summary: str
    context: Any
    recommendations: str | None
    created_at: str
    accepted_at: str | None


class MainTask(TypedDict):
    """The main task in a next action."""

    id: str
    task_id: str
    title: str
    description: str


class Delegation(TypedDict):
    """As its task session sees it."""

    delegation_id: str
    target_agent_id: str
    purpose: str
    await_result: bool
    status: str
    attempt: int
    result: Any
    created_at: str
    processed_at: str | None


QuestionState = Literal["open", "answered", "defaulted", "withdrawn"]


class ToldQuestion(TypedDict):
    """A question as agents are told it. `answer` is data in a person's words, or the default; null: there is none."""

    question_id: str
    task_id: str
    question: str
    state: QuestionState
    answer: str | None
    ended_by: str | None
    ended_at: str | None


class Question(TypedDict):
    """`to`: who is asked; null: who is responsible for the agent. `choices` and `text` are the answer. `review`: it
    asks for a review of the task's work, and the first option approves; `review_task_id`: an agent does it there."""

    question_id: str
    review: bool
    review_task_id: str | None
    project_id: str
    task_id: str
    agent_id: str
    question: str
    options: list[str]
    multiple: bool
    free_text: bool
    default: str | None
    deadline: str | None
    overdue: bool
    to: str | None
    state: QuestionState
    asked_at: str
    choices: list[str]
    text: str | None
    ended_by: str | None
    ended_at: str | None
    reason: str | None


class Notification(TypedDict):
    notification_id: str
    kind: str
    priority: Literal["high", "normal"]
    message: str
    task_id: str | None
    cause: str | None
    created_at: str


class SubmittedTask(TypedDict):
    """A queue task for the agent that has done it: without the description and the context that it was given."""

    task_id: str
    id: str
    agent_type: str | None
    title: str
    status: QueueStatus
    priority: PriorityName
    assigned_agent_id: str | None
    parent_task_id: str | None
    dependencies: list[str]
    correlation_id: str | None
    attempt: int
    max_attempts: int
    timeout_seconds: int
    created_by: str
    blocked_reason: str | None
    not_before: str | None
    created_at: str
    updated_at: str
    started_at: str | None
    completed_at: str | None
    result: Any
    error: str | None
    summary: str | None


class QueueTask(SubmittedTask):
    """A task in the shape of seed 4, with what a queue adds."""

    task_description: str
    context: Any


class SaidOfTask(TypedDict):
    """What callers have said of it."""

    touches: list[str]


class DetailedTask(Task, SaidOfTask):
    """One task in detail, but for what was handed over about it."""

    context: Any
    acceptance: list[AcceptanceCheck]
    checks: ChecksName
    check_failures: list[CheckFailure]
    next_steps: str | None
    artifacts: list[Any]
    blocked_cause: str | None
    subtasks: list[BriefTask]


class FullTask(DetailedTask):
    """One task in detail."""

    handoffs: list[Handoff]


class Judgement(TypedDict):
    """Who approved or rejected a request, when, and why."""

    by: str
    at: str
    reason: str | None


class WorkStanding(TypedDict):
    """`in_review`: its work was reported and is not settled: checks, a reviewer, a person or the merge queue has to
    act. `merged`: its work is."""

    in_review: bool
    merged: bool


class TaskOfProject(Task, WorkStanding):
    """A task in a list for people."""


class MayConflict(TypedDict):
    """Another task that may change the same files, and where. `holds`: the task is not started before that one has
    ended and its work is merged."""

    task_id: str
    title: str
    status: StatusName
    paths: list[str]
    holds: bool
    message: str


class UnmergedSubtask(TypedDict):
    """The work of a subtask that is not in the worktree of its task. `conflicts_with`: the subtasks on the other side;
    none: what the task itself has changed. `trouble`: what else prevents the merge."""

    task_id: str
    files: list[str]
    conflicts_with: list[str]
    trouble: str | None
    resolved_by: str | None


class ToldUnmerged(UnmergedSubtask):
    message: str


class NamedTask(TypedDict):
    task_id: str
    title: str


class Line(TypedDict):
    """The line of an agent in which a task waits for its start (null: of anyone): its `place`, 101 for every
    later one, and which are before it, the nearest first. `message`: what it waits for."""

    agent_id: str | None
    place: int
    before: list[NamedTask]
    message: str


class PersonsTask(FullTask, WorkStanding):
    """One task in detail, for people. `may_conflict_with`: tasks with worktrees that may change the same files.
    `unmerged`: the work of subtasks that could not be merged into its worktree, each with a `message`.
    `changes_requested`: changes to its work were requested, and this task makes them. `reviews`: the tasks in
    which agents review its work, or did, the newest first; `review_of`: the task whose work is reviewed in this one.
    `judged`: how a request was answered; null for any other task, and until it is. `required_checks`: the project's,
    where they apply to it. `check_results`: how the checks ended at the last success report. `budget_usd` and
    `budget_tokens`: what it and its subtasks may use in all; null: no limit. `not_before`: it does not start by itself
    before this time; null: at any, or the time has come. `start`: who starts it in todo; null: as the project's setting
    says. `line`: where it waits for its start, if Toryo starts it."""

    budget_usd: float | None
    budget_tokens: int | None
    not_before: str | None
    start: StartName | None
    line: Line | None
    may_conflict_with: list[MayConflict]
    unmerged: list[ToldUnmerged]
    changes_requested: RequestedChanges | None
    reviews: list[TaskOfReview]
    review_of: TaskOfReview | None
    pull_request: PullRequest | None
    judged: Judgement | None
    required_checks: list[AcceptanceCheck]
    check_results: list[CheckEvidence]


class Agent(TypedDict):
    agent_id: str
    name: str
    kind: KindName
    role: RoleName
    reports_to: str | None
    status: AgentStatus
    provider: str | None
    ai_type: str | None
    model: str | None
    agent_type: str | None
    capabilities: list[str]
    max_parallel_tasks: int
    system_prompt: str
    provider_options: dict[str, Any]
    effective_options: dict[str, Any]
    mistakes: Sequence[str]
    created_at: str
    updated_at: str
    version: int


class AskedNetwork(TypedDict):
    """What a project lets programs reach from their sandbox: `hosts` besides those of models, `setup_hosts` for the
    commands that set a worktree up, `ports` that are reachable from outside."""

    network: NetworkName
    hosts: list[str]
    setup_hosts: list[str]
    ports: list[int]


class Project(TypedDict):
    project_id: str
    id: str
    name: str
    description: str
    status: Literal["active", "paused", "archived"]
    working_directory: str
    settings: dict[str, str | float | bool | list[AcceptanceCheck] | list[str] | list[int] | None]
    created_at: str
    updated_at: str
    paused_at: str | None
    version: int


class Doing(TypedDict):
    """The newest sign of an agent's program: what it called (and then `returned` or `failed`), said or printed."""

    kind: Literal["called", "returned", "failed", "said", "printed"]
    tool: str | None
    text: str
    since: str


class RefusedHosts(TypedDict):
    """What a sandbox has refused: `hosts` as the program asked for them, and `more` others; `words` say what is in
    force, and how a person allows HOST."""

    hosts: list[str]
    more: int
    words: str


class ServedPort(TypedDict):
    """A port of an agent's program, and where it is reachable on the machine of its Coordinator."""

    port: int
    address: str


class Launch(TypedDict):
    launch_id: str
    agent_id: str
    project_id: str
    purpose: PurposeName
    task_id: str | None
    reason: str
    state: Literal["ordered", "signed_in", "exited", "expired", "lost"]
    ai_type: str | None
    model: str | None
    account: str | None
    fence: int
    coordinator_id: str | None
    ordered_at: str
    deadline: str
    signed_in_at: str | None
    ended_at: str | None
    end_reason: str | None
    exit_code: int | None
    exit_signal: int | None
    exit_error: str | None
    doing: Doing | None
    ports: list[ServedPort]
    refused_hosts: RefusedHosts | None


class Used(TypedDict):
    """Tokens and money of one launch, as far as its program told them."""

    input_tokens: NotRequired[int]
    cached_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    cost_usd: NotRequired[float | None]
    turns: NotRequired[int]
    tool_calls: NotRequired[int]
    model: NotRequired[str | None]
    lower_bound: NotRequired[bool]


class LaunchUsed(Launch):
    usage: Used | None


class Session(TypedDict):
    session_id: str
    agent_id: str
    project_id: str
    purpose: PurposeName
    task_id: str | None
    launch_id: str
    model_provider: str | None
    model_id: str | None
    model_verified: bool | None
    created_at: str
    last_call_at: str
    expires_at: str
    ended_at: str | None
    end_reason: str | None
    runaway: str | None


class ListedSession(Session):
    doing: Doing | None
    last_seen_at: str
    confirmed: bool


class Event(TypedDict):
    sequence: int
    event_id: str
    at: str
    kind: str
    actor_id: str
    by_person: bool
    project_id: str | None
    task_id: str | None
    agent_id: str | None
    session_id: str | None
    launch_id: str | None
    correlation_id: str | None
    data: dict[str, Any]


class NeedAction(TypedDict):
    """A deed: an operation with the arguments that are known. `label` is what a button says, `command` its command."""

    name: str
    label: str
    operation: str
    arguments: dict[str, Any]
    command: str


class NeedRequest(TypedDict):
    """The texts to approve, as read in this version; not `complete` where a text is longer than shown here."""

    title: str
    description: str
    context: str | None
    acceptance: list[str]
    commands: list[str]
    assignee_id: str | None
    asked_by: str
    asked_for: str | None
    version: int
    complete: bool


class Need(TypedDict):
    """`also`: the other tasks that it is about; what settles it for one settles it for all."""

    kind: str
    key: str
    project_id: str | None
    task_id: str | None
    also: NotRequired[list[str]]
    agent_id: str | None
    title: str
    text: str
    since: str
    actions: list[NeedAction]
    request: NeedRequest | None
    questions: list[Question]
    path: str
    """Where the dashboard shows what to settle."""


class Decision(TypedDict):
    """Why an agent runs or not: the row that won, and the facts it read. `explanation` is the `summary` with commands
    that help. `ports` and `refused_hosts` are those of its newest launch, if that was asked for."""

    project_id: str
    purpose: PurposeName
    action: Literal["start", "hold", "stop"]
    reason: str
    row: str
    rule: str
    explanation: str
    summary: str
    facts: dict[str, Any]
    task_id: str | None
    since: str | None
    until: str | None
    seconds_left: int | None
    ports: NotRequired[list[ServedPort]]
    refused_hosts: NotRequired[RefusedHosts | None]


class Disk(TypedDict):
    """Bytes used by a Coordinator's logs and worktrees. A lower bound if not `complete`."""

    logs_bytes: int
    worktrees_bytes: int
    complete: bool
    measured_at: str


class Coordinator(TypedDict):
    """`accounts`: by provider, those that its file names; of other providers it has one login."""

    coordinator_id: str
    providers: list[str]
    accounts: dict[str, list[str]]
    labels: list[str]
    capabilities: list[str] | None
    agents: list[str] | None
    running: int
    seen_at: str
    seconds_ago: int
    disk: Disk | None


class Cooldown(TypedDict):
    what: str
    reason: str
    program: str | None
    until: str
    seconds_left: int


class SignIn(TypedDict):
    sign_in_id: str
    login: Login
    how: str
    browser: str | None
    created_at: str
    expires_at: str
    this_one: bool


class Key(TypedDict):
    key_id: str
    project_id: str
    name: str
    agent_id: str | None
    types: list[str]
    orchestrator: bool
    tools: list[str]
    created_by: str
    created_at: str
    revoked_at: str | None


class QueueAgent(TypedDict):
    agent_id: str
    agent_type: str
    capabilities: list[str]
    status: Literal["offline", "busy", "online"]
    last_seen: str
    current_tasks: list[str]


class FileChange(TypedDict):
    path: str
    old_path: str | None
    status: FileChangeName
    insertions: int
    deletions: int
    binary: bool


class DiffAnswer(TypedDict):
    """What a task has changed. `truncated`: of the patch; `files_in_all`: more than are listed."""

    trouble: str | None
    hindered_by: str | None
    patch: str
    files: list[FileChange]
    files_in_all: int
    truncated: bool
    head: str
    base: str


class MergedWork(TypedDict):
    task_id: str
    commit: str
    into: str
    kept: NotRequired[str]
    """Why its worktree is still there."""


class OutcomeAnswer(TypedDict):
    """How a merge or the removal of a worktree ended, or why there is no diff. `given_up`: its Coordinator is away.
    `anyway`: it would be merged with that."""

    trouble: str | None
    hindered_by: NotRequired[str | None]
    given_up: NotRequired[bool]
    anyway: NotRequired[bool]
    merged: NotRequired[list[MergedWork]]
    conflict: NotRequired[list[str]]
    message: NotRequired[str]
    branch: NotRequired[str]
    commit: NotRequired[str | None]
    evidence: NotRequired[list[CheckEvidence]]
    pull_request: NotRequired[PullRequest]


class WorktreeJob(TypedDict):
    """`answer` is what its Coordinator told: a diff, a merged commit, or what went wrong."""

    job_id: str
    kind: WorktreeJobKind
    task_id: str
    project_id: str
    asked_by: str
    asked_at: str
    finished_at: str | None
    done: bool | None
    answer: DiffAnswer | OutcomeAnswer | None


class Message(TypedDict):
    message_id: str
    from_agent_id: str
    from_name: str
    from_kind: Literal["ai", "human", "system"]
    to_agent_id: str
    kind: str
    content: str
    conversation_id: str | None
    related_task_id: str | None
    created_at: str
    sequence: int


ChatState = Literal["person", "connected", "connecting", "terminating", "cooling_down", "disconnected"]


class ChatStatus(TypedDict):
    """`explanation` is the `summary` with commands that help."""

    state: ChatState
    reason: NotRequired[str]
    explanation: str
    summary: str
    until: NotRequired[str | None]


class Chat(TypedDict):
    agent_id: str
    name: str
    kind: KindName
    with_agent_id: str
    observing: bool
    unread: int
    newest: Message | None
    newest_at: str
    status: ChatStatus


ConversationState = Literal["pending", "active", "ending", "ended", "expired"]


class Conversation(TypedDict):
    conversation_id: str
    project_id: str
    initiator_id: str
    partner_id: str
    purpose: str
    state: str
    turn_of: str | None
    turns: int
    max_turns: int
    task_id: str | None
    delegation_id: str | None
    created_at: str
    last_turn_at: str
    ended_at: str | None
    ended_by: str | None
    reason: str | None
    summary: str | None


MergeQueueState = Literal["queued", "checking", "merged", "failed", "conflict", "removed"]


class MergeQueueEntry(TypedDict):
    """The work of a task in the merge queue, or what became of it. `place`: from 1; null when it has ended. `part`: the
    half of a failed batch it is checked with. `waits_for`: tasks it builds on that are not merged yet. `message`: why
    it was not merged. `evidence`: how the checks ended when they ran last. `changes_task_id`: the task that corrects
    it. `removal_by`: who has removed it while it is still being checked."""

    entry_id: str
    task_id: str
    title: str
    assignee_id: str | None
    project_id: str
    coordinator_id: str
    target: str
    state: MergeQueueState
    place: int | None
    batch_id: str | None
    part: str | None
    waits_for: list[str]
    added_by: str
    added_at: str
    sent_back: int
    removal_by: str | None
    message: str | None
    retry_at: str | None
    base_commit: str | None
    merged_commit: str | None
    evidence: list[CheckEvidence]
    conflict_files: list[str]
    changes_task_id: str | None
    ended_at: str | None
    ended_by: str | None


class MergeQueue(TypedDict):
    """The merge queue of a project. `entries`: what waits, in order; `ended`: the last ones that have left it.
    `required_checks`: how many the project has; without any, only conflicts are found."""

    project_id: str
    mode: Literal["off", "manual", "automatic"]
    batch_size: int
    required_checks: int
    paused_at: str | None
    paused_by: str | None
    entries: list[MergeQueueEntry]
    ended: list[MergeQueueEntry]


ReviewName = Literal[
    "to_review",
    "changes_requested",
    "in_merge_queue",
    "in_pull_request",
    "with_parent",
    "left_to_agent",
    "at_work",
]


class Worktree(TypedDict):
    """`review`: how it stands with the people who review it; null where there is nothing to review. With
    `changes_requested` it waits for the task named there. `unmerged`: the work of subtasks that is not in it."""

    task_id: str
    title: str
    assignee_id: str | None
    project_id: str
    review: ReviewName | None
    changes_requested: RequestedChanges | None
    coordinator_id: str
    path: str
    directory: str
    branch: str
    base_branch: str | None
    base_commit: str
    head_commit: str | None
    commits: int
    files_changed: int
    insertions: int
    deletions: int
    state: str
    merged_commit: str | None
    merged_into: str | None
    pull_request: PullRequest | None
    unmerged: list[UnmergedSubtask]
    trouble: str | None
    created_at: str
    updated_at: str

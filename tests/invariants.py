"""What must hold whatever anybody has called: the rules of the specification on concepts and messages, of the rows.

`broken` reads the whole database and answers every rule that does not hold, in words; nothing here goes through the
operations that are on trial.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from toryo.domain import queue
from toryo.domain.conversations import MOST_TURNS
from toryo.domain.messages import LONGEST_MESSAGE
from toryo.domain.moves import MOVES
from toryo.domain.talk_limits import CONVERSATION_WINDOW, MESSAGE_WINDOW, TalkLimits
from toryo.domain.tasks import Status
from toryo.storage import schema

Row = Mapping[str, Any]

OPEN = ("backlog", "todo", "in_progress", "blocked")
CLOSED = ("completed", "failed", "cancelled")
TALKING = ("pending", "active")
OPEN_DELEGATIONS = ("pending", "processing")
MOVED = frozenset(
    f"task.{verb}"
    for verb in (
        "started readied drafted put_back unblocked retried completed failed blocked cancelled".split()  # noqa: SIM905
    )
)


@dataclass
class Rows:
    """Every row, by table; tasks by id as well."""

    tables: dict[str, list[Row]]

    def __post_init__(self) -> None:
        self.tasks = {task["id"]: task for task in self.tables["tasks"]}
        self.children: dict[str, list[Row]] = defaultdict(list)
        for task in self.tasks.values():
            if task["parent_id"] is not None:
                self.children[task["parent_id"]].append(task)
        self.depends_on: dict[str, list[str]] = defaultdict(list)
        for dependency in self.tables["dependencies"]:
            self.depends_on[dependency["task_id"]].append(dependency["depends_on"])
        self.settings = {project["id"]: orjson.loads(project["settings"]) for project in self.tables["projects"]}
        self.agents = {agent["id"]: agent for agent in self.tables["agents"]}

    def __getitem__(self, table: str) -> list[Row]:
        return self.tables[table]

    def above(self, task: Row) -> Iterator[Row]:
        parent = self.tasks.get(task["parent_id"])
        while parent is not None:
            yield parent
            parent = self.tasks.get(parent["parent_id"])

    def is_main(self, task: Row) -> bool:
        parent = self.tasks.get(task["parent_id"])
        return task["assignee_id"] is not None and (parent is None or parent["assignee_id"] != task["assignee_id"])


class HasRows(Protocol):
    """A world of the story kit, or another look at a database."""

    def rows(self) -> dict[str, list[tuple[Any, ...]]]: ...


def read(world: HasRows) -> Rows:
    found = world.rows()
    columns = {table.name: [column.name for column in table.columns] for table in schema.metadata.sorted_tables}
    return Rows({name: [dict(zip(columns[name], row, strict=True)) for row in rows] for name, rows in found.items()})


def broken(world: HasRows, *, without: Container[str] = ()) -> list[str]:
    """Every rule that does not hold now, with what breaks it; some rules may be left out by name."""
    rows = read(world)
    named = {rule.__name__[1:]: rule for rule in RULES}
    return [f"{name}: {what}" for name, rule in named.items() if name not in without for what in rule(rows)]


OF_THE_WHOLE_PAST = frozenset(
    {
        "fences_grow",
        "the_event_log_tells_every_status",
        "messages_are_counted_without_gaps_in_each_project",
        "cursors_follow_messages",
        "conversations_alternate_within_their_limit",
        "caps_hold",
    }
)
"""Rules that count what was ever there: they do not hold once something old was deleted."""


def hold(world: HasRows, *, without: Container[str] = ()) -> None:
    wrong = broken(world, without=without)
    assert not wrong, "\n".join(wrong[:20])


# --- people ----------------------------------------------------------------------------------------------------------


def _a_person_is_an_owner_exactly_if_their_account_says_so(rows: Rows) -> Iterable[str]:
    for account in rows["people"]:
        role = rows.agents[account["agent_id"]]["role"]
        if (account["login"] == "owner") is not (role == "owner"):
            yield f"{account['agent_id']}: {account['login']}, {role}"


# --- trees -----------------------------------------------------------------------------------------------------------


def _a_task_and_its_parent_belong_to_one_tree_of_one_project(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        parent = rows.tasks.get(task["parent_id"])
        if parent is None:
            if task["root_id"] != task["id"] or task["depth"] != 1:
                yield f"root {task['id']}"
        elif (parent["project_id"], parent["root_id"], parent["depth"] + 1) != (
            task["project_id"],
            task["root_id"],
            task["depth"],
        ):
            yield f"{task['id']} below {parent['id']}"


def _dependencies_stay_within_a_project(rows: Rows) -> Iterable[str]:
    for task_id, others in rows.depends_on.items():
        for other in others:
            if rows.tasks[task_id]["project_id"] != rows.tasks[other]["project_id"]:
                yield f"{task_id} -> {other}"


def _nothing_waits_for_itself(rows: Rows) -> Iterable[str]:
    """Over dependencies and parenthood: a part starts with the whole, which ends after it."""
    state: dict[tuple[str, str], int] = {}

    def waits_for(moment: tuple[str, str]) -> list[tuple[str, str]]:
        task_id, what = moment
        if what == "end":
            return [(task_id, "start"), *((each["id"], "end") for each in rows.children[task_id])]
        above = rows.tasks[task_id]["parent_id"]
        return [*((each, "end") for each in rows.depends_on[task_id]), *([(above, "start")] if above else [])]

    for start in ((task_id, "end") for task_id in rows.tasks):
        stack = [(start, iter(waits_for(start)))] if start not in state else []
        state.setdefault(start, 1)
        while stack:
            node, following = stack[-1]
            other = next(following, None)
            if other is None:
                state[node] = 2
                stack.pop()
            elif state.get(other) == 1:
                yield f"{node} -> {other}"
                return
            elif other not in state:
                state[other] = 1
                stack.append((other, iter(waits_for(other))))


def _caps_hold(rows: Rows) -> Iterable[str]:
    for parent_id, children in rows.children.items():
        parent, settings = rows.tasks[parent_id], rows.settings[rows.tasks[parent_id]["project_id"]]
        by_agents = [child for child in children if not _by_person(rows, child)]
        if sum(by_agent["status"] in OPEN for by_agent in by_agents) > settings["open_subtasks"]:
            yield f"{parent_id} has too many open subtasks"
        if len(by_agents) > settings["subtasks_ever"]:
            yield f"{parent_id} has had too many subtasks"
        if len(children) != parent["children_ever"]:
            yield f"{parent_id} counts {parent['children_ever']} subtasks of {len(children)}"
        made = Counter(by_agent["created_by"] for by_agent in by_agents)
        for agent_id, count in made.items():
            if rows.agents[agent_id]["role"] == "worker" and count > settings["worker_subtasks"]:
                yield f"{agent_id} made {count} subtasks below {parent_id}"


def _by_person(rows: Rows, task: Row) -> bool:
    maker = rows.agents.get(task["created_by"])
    return maker is None or maker["kind"] == "human"


def _no_agent_goes_deeper_than_allowed(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["depth"] > rows.settings[task["project_id"]]["tree_depth"] and not _by_person(rows, task):
            yield f"{task['id']} at depth {task['depth']}"


def _requests_stay_within_their_cap(rows: Rows) -> Iterable[str]:
    still_open = Counter(
        (task["project_id"], task["requested_by"])
        for task in rows.tasks.values()
        if task["requested_by"] is not None and task["status"] in OPEN and task["approval"] != "rejected"
    )
    for (project_id, agent_id), count in still_open.items():
        if count > rows.settings[project_id]["open_requests"]:
            yield f"{agent_id} has {count} open requests"


# --- statuses --------------------------------------------------------------------------------------------------------


def _what_is_in_progress_may_be(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["status"] != "in_progress":
            continue
        if task["assignee_id"] is None:
            yield f"{task['id']} has no assignee"
        if task["approval"] != "approved":
            yield f"{task['id']} is {task['approval']}"
        for other in rows.depends_on[task["id"]]:
            if rows.tasks[other]["status"] != "completed":
                yield f"{task['id']} depends on {other}, which is {rows.tasks[other]['status']}"
        for above in rows.above(task):
            if above["status"] in CLOSED:
                yield f"{task['id']} is below {above['id']}, which is {above['status']}"


def _nobody_has_more_main_tasks_in_progress_than_it_may(rows: Rows) -> Iterable[str]:
    """What was reported once does not count: while it is in review others may begin, and beside these it goes on if it
    is sent back. Nor does work above, which waits for its parts; and a review may begin beside all of these."""
    mains = [
        task
        for task in rows.tasks.values()
        if task["status"] == "in_progress" and task["check_id"] is None and rows.is_main(task)
    ]
    wait = {(above["id"], task["assignee_id"]) for task in mains for above in rows.above(task)}
    busy = Counter(
        (task["project_id"], task["assignee_id"], task["review_of"] is not None)
        for task in mains
        if (task["id"], task["assignee_id"]) not in wait
    )
    for (project_id, agent_id, _), count in busy.items():
        if count > rows.agents[agent_id]["max_parallel_tasks"]:
            yield f"{agent_id} has {count} in {project_id}"


def _a_completed_task_has_nothing_open_below_and_a_cancelled_one_neither(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["status"] in OPEN:
            for above in rows.above(task):
                if above["status"] in ("completed", "cancelled"):
                    yield f"{task['id']} is {task['status']} below {above['id']}, which is {above['status']}"


def _what_was_completed_had_passed_its_checks(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["status"] == "completed" and task["has_acceptance"] and task["checks"] != "passed":
            yield f"{task['id']} with checks {task['checks']}"


def _a_block_has_its_cause_and_only_a_block_has_one(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        cause = task["blocked_cause"]
        if task["status"] != "blocked":
            if task["blocked_by"] or cause or task["blocked_from"]:
                yield f"{task['id']} is {task['status']} with a cause"
        elif cause is None:
            if not task["blocked_by"] or not task["blocked_reason"]:
                yield f"{task['id']} is blocked by nobody or for no reason"
        elif rows.tasks[cause]["status"] not in ("blocked", "failed") or cause not in {
            each["id"] for each in rows.above(task)
        }:
            yield f"{task['id']} is blocked because of {cause}, which is {rows.tasks[cause]['status']}"


def _only_a_task_in_progress_waits(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["wait"] is not None and task["status"] != "in_progress":
            yield f"{task['id']} is {task['status']} and waits"


def _times_fit_the_status(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if (task["completed_at"] is not None) != (task["status"] in CLOSED):
            yield f"{task['id']} is {task['status']}, completed at {task['completed_at']}"
        if task["status"] == "in_progress" and task["started_at"] is None:
            yield f"{task['id']} never started"


# --- launches and sessions -------------------------------------------------------------------------------------------


def _one_live_launch_and_session_per_agent_project_and_purpose(rows: Rows) -> Iterable[str]:
    launches = Counter(_of(launch) for launch in rows["launches"] if launch["state"] in ("ordered", "signed_in"))
    sessions = Counter(_of(session) for session in rows["sessions"] if session["ended_at"] is None)
    for what, count in (*launches.items(), *sessions.items()):
        if count > 1:
            yield f"{what}: {count}"


def _of(row: Row) -> tuple[str, str, str]:
    return row["agent_id"], row["project_id"], row["purpose"]


def _a_session_lives_as_long_as_its_launch(rows: Rows) -> Iterable[str]:
    launches = {each["id"]: each for each in rows["launches"]}
    of_launch = {each["launch_id"]: each for each in rows["sessions"]}
    for session in rows["sessions"]:
        alive = session["ended_at"] is None
        if alive != (launches[session["launch_id"]]["state"] == "signed_in"):
            yield f"session {session['id']} and launch {session['launch_id']}"
    for launch in launches.values():
        if launch["state"] == "signed_in" and launch["id"] not in of_launch:
            yield f"launch {launch['id']} without a session"


def _fences_grow(rows: Rows) -> Iterable[str]:
    fences: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for launch in sorted(rows["launches"], key=lambda each: (each["ordered_at"], each["fence"])):
        fences[_of(launch)].append(launch["fence"])
    for whose, numbers in fences.items():
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"{whose}: {numbers}"


# --- queues ----------------------------------------------------------------------------------------------------------


def _a_live_claim_is_its_tasks_only_one_and_its_holder_works_on_it(rows: Rows) -> Iterable[str]:
    live = [claim for claim in rows["claims"] if claim["ended_at"] is None]
    for task_id, count in Counter(each["task_id"] for each in live).items():
        if count > 1:
            yield f"{task_id} is claimed {count} times"
    for each in live:
        task = rows.tasks[each["task_id"]]
        there = (task["status"], task["assignee_id"], task["attempt"])
        if there != ("in_progress", each["agent_id"], each["attempt"]):
            yield f"{each['task_id']} is {there}, claimed by {each['agent_id']} in attempt {each['attempt']}"
    for agent_id, count in Counter(each["agent_id"] for each in live).items():
        if count > queue.CLAIMED_AT_ONCE:
            yield f"{agent_id} holds {count}"


def _a_claim_of_a_present_attempt_ends_with_it(rows: Rows) -> Iterable[str]:
    """What is in progress in the attempt of a claim is that claim's; a launch's claim is live while the launch is."""
    launches = {launch["id"]: launch for launch in rows["launches"]}
    for claim in rows["claims"]:
        task, over = rows.tasks[claim["task_id"]], claim["ended_at"] is not None
        if over and task["status"] == "in_progress" and task["attempt"] == claim["attempt"]:
            yield f"{task['id']} is in progress, its claim was {claim['end_reason']}"
        if not over and claim["launch_id"] and launches[claim["launch_id"]]["state"] not in ("ordered", "signed_in"):
            yield f"{task['id']} is claimed for {claim['launch_id']}, which is over"


def _somebody_works_on_every_queue_task_in_progress(rows: Rows) -> Iterable[str]:
    """Whoever polled it holds its claim; others are a Coordinator's to start, or people, or a need of people."""
    claimed = {claim["task_id"] for claim in rows["claims"] if claim["ended_at"] is None}
    polling = {presence["agent_id"] for presence in rows["presences"]}
    for task in rows.tasks.values():
        if task["agent_type"] is None or task["status"] != "in_progress" or task["id"] in claimed:
            continue
        agent = rows.agents[task["assignee_id"]]
        if agent["provider"] is None and agent["id"] in polling:
            yield f"{task['id']} is in progress by {agent['id']}, who has no claim"


def _no_task_is_tried_more_often_than_it_may_be(rows: Rows) -> Iterable[str]:
    tried = Counter(claim["task_id"] for claim in rows["claims"] if claim["end_reason"] in ("lost", "failed"))
    again = Counter(event["task_id"] for event in rows["events"] if event["kind"] == "task.retried")
    for task_id, count in tried.items():
        if count > (rows.tasks[task_id]["max_attempts"] or queue.MAX_ATTEMPTS) + again[task_id]:
            yield f"{task_id} was tried {count} times"
    for claim in rows["claims"]:
        if claim["attempt"] > rows.tasks[claim["task_id"]]["attempt"]:
            yield f"{claim['task_id']} was claimed in attempt {claim['attempt']}, which has not come"


# --- talk ------------------------------------------------------------------------------------------------------------


def _messages_are_counted_without_gaps_in_each_project(rows: Rows) -> Iterable[str]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for message in rows["messages"]:
        numbers[message["project_id"]].append(message["sequence"])
    for project_id, found in numbers.items():
        if sorted(found) != list(range(1, len(found) + 1)):
            yield f"{project_id}: {sorted(found)[:50]}"


def _a_message_is_between_the_two_of_its_thread(rows: Rows) -> Iterable[str]:
    for message in rows["messages"]:
        pair = message["thread"].split("|")
        if not 1 <= len(message["content"]) <= LONGEST_MESSAGE:
            yield f"{message['id']} has {len(message['content'])} characters"
        if message["kind"] == "system":
            if message["to_agent_id"] not in pair or rows.agents[message["to_agent_id"]]["kind"] != "human":
                yield f"{message['id']} is Toryo's to {message['to_agent_id']}"
        elif sorted((message["from_agent_id"], message["to_agent_id"])) != pair:
            yield f"{message['id']} from {message['from_agent_id']} to {message['to_agent_id']} in {message['thread']}"


def _threads_know_their_newest_message(rows: Rows) -> Iterable[str]:
    newest: dict[tuple[str, str], int] = defaultdict(int)
    for message in rows["messages"]:
        where = (message["project_id"], message["thread"])
        newest[where] = max(newest[where], message["sequence"])
    threads = {(thread["project_id"], thread["thread"]): thread for thread in rows["threads"]}
    if threads.keys() != newest.keys():
        yield f"threads {sorted(threads)} of {sorted(newest)}"
    for where, thread in threads.items():
        if thread["newest"] != newest[where]:
            yield f"{where}: {thread}"


def _no_message_is_lost(rows: Rows) -> Iterable[str]:
    """What was not handed out is a reason to run, unless it belongs to a conversation that is over."""
    over = {conversation["id"] for conversation in rows["conversations"] if conversation["state"] not in TALKING}
    boxes = {(mailbox["project_id"], mailbox["agent_id"]): mailbox for mailbox in rows["mailboxes"]}
    for message in rows["messages"]:
        to = (message["project_id"], message["to_agent_id"])
        if message["kind"] == "system" or rows.agents[message["to_agent_id"]]["kind"] == "human":
            continue
        box = boxes.get(to)
        if box is None:
            yield f"{message['id']} to {to} without a mailbox"
        elif message["sequence"] > max(box["cursor"], box["newest"]) and message["conversation_id"] not in over:
            yield f"{message['id']} ({message['sequence']}) to {to}: {box}"


def _cursors_follow_messages(rows: Rows) -> Iterable[str]:
    to: dict[tuple[str, str], set[int]] = defaultdict(set)
    for message in rows["messages"]:
        if message["kind"] == "message":
            to[message["project_id"], message["to_agent_id"]].add(message["sequence"])
    for box in rows["mailboxes"]:
        mine = to[box["project_id"], box["agent_id"]] | {0}
        if not {box["cursor"], box["handed_from"], box["redelivered_to"], box["newest"]} <= mine:
            yield f"{box} of {sorted(mine)[-20:]}"
        if box["handed_from"] > box["cursor"]:
            yield f"{box} was handed backwards"


def _conversations_alternate_within_their_limit(rows: Rows) -> Iterable[str]:
    said: dict[str, list[Row]] = defaultdict(list)
    for message in sorted(rows["messages"], key=lambda message: message["sequence"]):
        if message["conversation_id"] is not None:
            said[message["conversation_id"]].append(message)
    for one in rows["conversations"]:
        messages, pair = said.pop(one["id"], []), (one["initiator_id"], one["partner_id"])
        turns, rest = messages[: one["turns"]], messages[one["turns"] :]
        if not 1 <= one["turns"] <= one["max_turns"] <= MOST_TURNS or len(turns) != one["turns"]:
            yield f"{one['id']}: {one['turns']} turns of {one['max_turns']}, {len(messages)} messages"
        if [turn["from_agent_id"] for turn in turns] != [pair[number % 2] for number in range(len(turns))]:
            yield f"{one['id']}: {[turn['from_agent_id'] for turn in turns]}"
        if [each["from_agent_id"] for each in rest] not in ([], [one["ended_by"]]):
            yield f"{one['id']}: a last word of {[each['from_agent_id'] for each in rest]}"
        if {who for message in messages for who in (message["from_agent_id"], message["to_agent_id"])} - set(pair):
            yield f"{one['id']}: others speak in it"
        if one["state"] in TALKING and one["turn_of"] != pair[one["turns"] % 2]:
            yield f"{one['id']}: it is the turn of {one['turn_of']} after {one['turns']}"
    for unknown in said:
        yield f"messages of {unknown}, which is not there"


def _a_pair_has_one_open_conversation_of_agents(rows: Rows) -> Iterable[str]:
    still_open: Counter[tuple[str, ...]] = Counter()
    for conversation in rows["conversations"]:
        pair = (conversation["initiator_id"], conversation["partner_id"])
        if [conversation["low_id"], conversation["high_id"]] != sorted(pair) or pair[0] == pair[1]:
            yield f"{conversation['id']} between {pair}"
        if any(rows.agents[one]["kind"] == "human" for one in pair):
            yield f"{conversation['id']} with a person"
        still_open[conversation["project_id"], conversation["low_id"], conversation["high_id"]] += (
            conversation["state"] in TALKING
        )
    for whose, count in still_open.items():
        if count > 1:
            yield f"{whose}: {count}"


def _a_conversation_is_settled_once_it_is_over_and_both_were_told(rows: Rows) -> Iterable[str]:
    for conversation in rows["conversations"]:
        is_open = conversation["state"] in TALKING
        if is_open != (conversation["ended_at"] is None) or is_open != (conversation["reason"] is None):
            ended = f"ended {conversation['ended_at']}: {conversation['reason']}"
            yield f"{conversation['id']} is {conversation['state']}, {ended}"
        told = [conversation["told_initiator_at"], conversation["told_partner_at"]]
        if is_open and told != [None, None]:
            yield f"{conversation['id']} is {conversation['state']} and somebody was told of its end"
        if bool(conversation["settled"]) != (conversation["state"] in ("ended", "expired") and None not in told):
            yield f"{conversation['id']} is {conversation['state']}, told {told}, settled {conversation['settled']}"


def _an_open_delegation_is_in_live_hands_or_in_nobodys(rows: Rows) -> Iterable[str]:
    sessions = {session["id"]: session for session in rows["sessions"]}
    for delegation in rows["delegations"]:
        holder = sessions.get(delegation["session_id"])
        if delegation["status"] != "processing" and delegation["session_id"] is not None:
            yield f"{delegation['id']} is {delegation['status']}, in the hands of {delegation['session_id']}"
        elif holder is not None and (
            holder["ended_at"] is not None or _of(holder) != (delegation["agent_id"], delegation["project_id"], "chat")
        ):
            yield f"{delegation['id']} is in the hands of {holder}"
        if (delegation["status"] in OPEN_DELEGATIONS) != (delegation["ended_at"] is None):
            yield f"{delegation['id']} is {delegation['status']}, ended at {delegation['ended_at']}"
        if not 1 <= delegation["attempt"] <= TalkLimits().delegation_attempts:
            yield f"{delegation['id']} has had {delegation['attempt']} attempts"


def _a_task_counts_its_questions_and_only_work_asks(rows: Rows) -> Iterable[str]:
    """Nobody is asked for work that does not go on."""
    by_task: dict[str, list[Row]] = defaultdict(list)
    for question in rows["questions"]:
        by_task[question["task_id"]].append(question)
        if (question["state"] == "open") != (question["ended_at"] is None):
            yield f"{question['id']} is {question['state']}, ended at {question['ended_at']}"
    for task in rows.tasks.values():
        found = by_task[task["id"]]
        still_open = [each for each in found if each["state"] == "open"]
        if (task["questions_ever"], task["open_questions"]) != (len(found), len(still_open)):
            yield f"{task['id']} counts {task['open_questions']} of {task['questions_ever']} questions: {still_open}"
        if still_open and task["status"] != "in_progress":
            yield f"{task['id']} is {task['status']} and asks {len(still_open)} questions"
        if any(each["agent_id"] != task["assignee_id"] for each in still_open):
            yield f"{task['id']} is {task['assignee_id']}'s, and somebody else asks"


def _delegations_stay_within_their_caps(rows: Rows) -> Iterable[str]:
    by_task: dict[str, list[Row]] = defaultdict(list)
    for delegation in rows["delegations"]:
        by_task[delegation["task_id"]].append(delegation)
    for task_id, found in by_task.items():
        settings = rows.settings[rows.tasks[task_id]["project_id"]]
        if sum(each["status"] in OPEN_DELEGATIONS for each in found) > settings["open_delegations"]:
            yield f"{task_id} has too many open delegations"
        if len(found) > settings["delegations_ever"]:
            yield f"{task_id} has had {len(found)} delegations"


def _no_completed_task_awaits_a_delegation(rows: Rows) -> Iterable[str]:
    for delegation in rows["delegations"]:
        awaited = delegation["status"] in OPEN_DELEGATIONS and delegation["await_result"]
        if awaited and rows.tasks[delegation["task_id"]]["status"] == "completed":
            yield f"{delegation['task_id']} awaits {delegation['id']}"


def _a_delegation_and_its_conversation_are_about_the_same(rows: Rows) -> Iterable[str]:
    delegations = {delegation["id"]: delegation for delegation in rows["delegations"]}
    for conversation in rows["conversations"]:
        if conversation["delegation_id"] is not None:
            one = delegations[conversation["delegation_id"]]
            wanted = (one["agent_id"], one["target_agent_id"], one["task_id"], one["project_id"])
            if wanted != (
                conversation["initiator_id"],
                conversation["partner_id"],
                conversation["task_id"],
                conversation["project_id"],
            ):
                yield f"{conversation['id']} for {one['id']}"


def _talk_stays_within_its_rates(rows: Rows) -> Iterable[str]:
    limits = TalkLimits()
    said: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for message in rows["messages"]:
        if message["kind"] == "message":
            said[message["project_id"], message["from_agent_id"], message["to_agent_id"]].append(message["created_at"])
    begun: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for conversation in rows["conversations"]:
        begun[conversation["project_id"], conversation["low_id"], conversation["high_id"]].append(
            conversation["created_at"]
        )
    for whose, times, most, window in (
        *((whose, times, limits.messages_per_minute, MESSAGE_WINDOW) for whose, times in said.items()),
        *((whose, times, limits.conversations_per_hour, CONVERSATION_WINDOW) for whose, times in begun.items()),
    ):
        times.sort()
        if any(later - earlier < window for earlier, later in zip(times, times[most:], strict=False)):
            yield f"{whose}: more than {most}"


def _a_message_asks_for_one_task_of_its_writer(rows: Rows) -> Iterable[str]:
    used = Counter(message["used_for"] for message in rows["messages"] if message["used_for"] is not None)
    for message in rows["messages"]:
        if message["used_for"] is None:
            continue
        task = rows.tasks[message["used_for"]]
        if used[task["id"]] > 1 or task["requested_by"] != message["from_agent_id"]:
            yield f"{message['id']} for {task['id']} of {task['requested_by']}"


# --- the event log ---------------------------------------------------------------------------------------------------


def _the_event_log_tells_every_status(rows: Rows) -> Iterable[str]:
    told: dict[str, str] = {}
    for event in sorted(rows["events"], key=lambda each: each["sequence"]):
        data = orjson.loads(event["data"])
        if event["kind"] == "task.created":
            told[event["task_id"]] = data["status"]
        elif event["kind"] in MOVED:
            if told[event["task_id"]] != data["from"]:
                yield f"{event['kind']} of {event['task_id']} from {data['from']}, it was {told[event['task_id']]}"
            if not _may_go(data):
                yield f"{event['task_id']} went from {data['from']} to {data['to']}"
            told[event["task_id"]] = data["to"]
    for task in rows.tasks.values():
        if told.get(task["id"]) != task["status"]:
            yield f"{task['id']} is {task['status']}, its events say {told.get(task['id'])}"


def _may_go(data: Mapping[str, Any]) -> bool:
    """A move of the table, or what a cascade does and undoes to a draft."""
    before, after = Status(data["from"]), Status(data["to"])
    drafts = {(Status.BACKLOG, Status.BLOCKED), (Status.BLOCKED, Status.BACKLOG)}
    return after in MOVES[before] or (before, after) in drafts


def _work_waits_once_in_a_merge_queue_and_what_is_checked_is_one_batch_of_its_branch(rows: Rows) -> Iterable[str]:
    jobs = {job["id"]: job for job in rows["worktree_jobs"]}
    waiting = [entry for entry in rows["merge_queue_entries"] if entry["state"] in ("queued", "checking")]
    for task_id, times in Counter(entry["task_id"] for entry in waiting).items():
        if times > 1:
            yield f"{task_id} waits {times} times"
    batches: dict[tuple[str, ...], str] = {}
    for entry in waiting:
        if entry["state"] != "checking":
            continue
        if entry["job_id"] not in jobs or jobs[entry["job_id"]]["kind"] != "queue_merge":
            yield f"{entry['task_id']} is checked by no job"
        lane = entry["project_id"], entry["coordinator_id"], entry["target"]
        if batches.setdefault(lane, entry["job_id"]) != entry["job_id"]:
            yield f"two batches of {lane} are checked at once"


def _what_the_merge_queue_has_merged_is_not_open(rows: Rows) -> Iterable[str]:
    is_open = {worktree["task_id"] for worktree in rows["worktrees"] if worktree["state"] == "open"}
    for entry in rows["merge_queue_entries"]:
        if entry["state"] == "merged" and entry["task_id"] in is_open:
            yield f"{entry['task_id']} is open"


def _every_event_has_an_actor_that_exists(rows: Rows) -> Iterable[str]:
    system = {"system:toryo", "system:coordinator", "system:nobody", "system:schedule"}
    keys = {name for api_key in rows["api_keys"] for name in (api_key["id"], api_key["agent_id"])}
    for event in rows["events"]:
        if event["actor_id"] not in rows.agents and event["actor_id"] not in system | keys:
            yield f"{event['kind']} by {event['actor_id']}"


# --- lines -----------------------------------------------------------------------------------------------------------


def _a_task_counts_what_it_still_waits_for(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        left = sum(rows.tasks[other]["status"] != "completed" for other in rows.depends_on[task["id"]])
        if task["agent_type"] is None and task["dependencies_left"] != left:
            yield f"{task['id']} counts {task['dependencies_left']} of {left}"


def place(task: Row) -> tuple[int, int, int, str]:
    """Where it stands in the lines of its project."""
    return task["priority"], task["line_at"], task["line_rank"], task["id"]


def ready_in_line(rows: Rows, task: Row) -> bool:
    """Whether only its agent is left to be free. False also where money, an account or files may keep it."""
    project = next(each for each in rows["projects"] if each["id"] == task["project_id"])
    settings = rows.settings[task["project_id"]]
    above = list(rows.above(task))
    begun = all(
        each["status"] in ("in_progress", "blocked")
        or (each["status"] == "todo" and not (each["assignee_id"] or each["pool"]) and each["start"] != "manual")
        for each in above
    )
    by_toryo = (task["start"] or settings.get("start", "manual")) == "when_ready"
    limited = any(settings.get(name) is not None for name in ("budget_per_day", "tokens_per_day")) or any(
        each["budget_usd"] or each["budget_tokens"] for each in (task, *above)
    )
    return (
        (task["status"], task["agent_type"], task["approval"], task["review_of"]) == ("todo", None, "approved", None)
        and task["not_before"] is None
        and project["status"] == "active"
        and all(rows.tasks[other]["status"] == "completed" for other in rows.depends_on[task["id"]])
        and not (settings.get("dependencies") == "merged" and _is_unmerged(rows, rows.depends_on[task["id"]]))
        and begun
        and by_toryo
        and not (limited or task["touches"] or rows["accounts"] or rows["quota_windows"])
    )


def _is_unmerged(rows: Rows, needed: Iterable[str]) -> bool:
    """Whether work of these tasks may be somewhere else than on its target branch."""
    found = [each for each in rows["worktrees"] if each["task_id"] in needed and each["state"] != "merged"]
    return any(each["state"] == "open" or each["commits"] or each["files_changed"] for each in found)


def free_for(rows: Rows, agent_id: str, task: Row) -> bool:
    """Whether it is an agent of the project that has a place for the task, and never failed."""
    agent = rows.agents[agent_id]
    member = any(
        (each["project_id"], each["agent_id"], each["removed_at"]) == (task["project_id"], agent_id, None)
        for each in rows["memberships"]
    )
    above = {each["id"] for each in rows.above(task)}
    below = {each["id"] for each in rows.tasks.values() if task["id"] in {other["id"] for other in rows.above(each)}}
    busy = [
        each["id"]
        for each in rows.tasks.values()
        if (each["project_id"], each["assignee_id"], each["status"]) == (task["project_id"], agent_id, "in_progress")
        and rows.is_main(each)
        and each["id"] not in above | below
        and not (each["checks"] == "in_review" or (each["checks"] == "running" and each["wait"]))
    ]
    return (
        (agent["kind"], agent["status"]) == ("ai", "active")
        and member
        and not any(each["agent_id"] == agent_id for each in rows["cooldowns"])
        and not any(name in (agent["provider_options"] or "") for name in ("budget", "tokens"))
        and len(busy) < agent["max_parallel_tasks"]
    )


def _nothing_that_is_ready_stands_in_the_line_of_a_free_agent(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        agent_id = task["assignee_id"]
        if agent_id is not None and rows.is_main(task) and ready_in_line(rows, task) and free_for(rows, agent_id, task):
            yield f"{task['id']} of {agent_id}"


RULES = [
    _a_person_is_an_owner_exactly_if_their_account_says_so,
    _a_task_and_its_parent_belong_to_one_tree_of_one_project,
    _dependencies_stay_within_a_project,
    _nothing_waits_for_itself,
    _caps_hold,
    _no_agent_goes_deeper_than_allowed,
    _requests_stay_within_their_cap,
    _what_is_in_progress_may_be,
    _nobody_has_more_main_tasks_in_progress_than_it_may,
    _a_completed_task_has_nothing_open_below_and_a_cancelled_one_neither,
    _what_was_completed_had_passed_its_checks,
    _a_block_has_its_cause_and_only_a_block_has_one,
    _only_a_task_in_progress_waits,
    _times_fit_the_status,
    _one_live_launch_and_session_per_agent_project_and_purpose,
    _a_session_lives_as_long_as_its_launch,
    _fences_grow,
    _a_live_claim_is_its_tasks_only_one_and_its_holder_works_on_it,
    _a_claim_of_a_present_attempt_ends_with_it,
    _somebody_works_on_every_queue_task_in_progress,
    _no_task_is_tried_more_often_than_it_may_be,
    _messages_are_counted_without_gaps_in_each_project,
    _a_message_is_between_the_two_of_its_thread,
    _threads_know_their_newest_message,
    _no_message_is_lost,
    _cursors_follow_messages,
    _conversations_alternate_within_their_limit,
    _a_pair_has_one_open_conversation_of_agents,
    _a_conversation_is_settled_once_it_is_over_and_both_were_told,
    _an_open_delegation_is_in_live_hands_or_in_nobodys,
    _delegations_stay_within_their_caps,
    _a_task_counts_its_questions_and_only_work_asks,
    _no_completed_task_awaits_a_delegation,
    _a_delegation_and_its_conversation_are_about_the_same,
    _talk_stays_within_its_rates,
    _a_message_asks_for_one_task_of_its_writer,
    _the_event_log_tells_every_status,
    _work_waits_once_in_a_merge_queue_and_what_is_checked_is_one_batch_of_its_branch,
    _what_the_merge_queue_has_merged_is_not_open,
    _every_event_has_an_actor_that_exists,
    _a_task_counts_what_it_still_waits_for,
    _nothing_that_is_ready_stands_in_the_line_of_a_free_agent,
]

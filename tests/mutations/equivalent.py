"""Faults that change nothing anybody could see, and why: they count neither as caught nor as survivors."""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutations.mutator import Fault


@dataclass(frozen=True)
class Equivalent:
    """All faults of this kind in this function whose piece contains `piece`, and then `becomes`."""

    file: str
    function: str
    kind: str
    piece: str
    becomes: str
    reason: str

    def covers(self, fault: Fault) -> bool:
        where = (self.file, self.function, self.kind) == (fault.file, fault.function, fault.kind)
        return where and self.piece in fault.old and self.becomes in fault.new


EQUIVALENT: tuple[Equivalent, ...] = (
    Equivalent(
        "domain/agents.py",
        "refuse_cycle",
        "operand removed",
        "reports_to is not None and",
        "((reports_to == agent_id",
        "for the type checker: nobody is called None, and nobody is above None",
    ),
    Equivalent(
        "domain/memories.py",
        "_terms",
        "comparison",
        "each > _LAST_KANA",
        "(each) >= (_LAST_KANA)",
        "the last of the block is a sign for two letters that NFKC takes apart: it is in no run",
    ),
    Equivalent(
        "domain/memories.py",
        "ranked",
        "constant",
        "9",
        "",
        "rounding makes the sums equal that were added up in another order: with a digit more or less, the same ones",
    ),
    Equivalent(
        "domain/moves.py",
        "_Moving.record",
        "operand removed",
        "task.assignee_id is not None and",
        "((task.in_progress) and (self.tree.is_main(task)))",
        "for the type checker: a main task has an assignee",
    ),
    Equivalent(
        "domain/push.py",
        "quiet_until",
        "comparison",
        "minute >= end",
        "(minute) > (end)",
        "the minute in which quiet hours end is not one of them, and has been left out before",
    ),
    *(
        Equivalent(
            "domain/task_tree.py",
            "Tree.changed",
            kind,
            '"_children" in vars(self)',
            "",
            "it only saves time: the children are listed now or when they are asked for, in the same order",
        )
        for kind in ("always", "never")
    ),
    *(
        Equivalent(
            "workflow/launch_rules.py",
            function,
            "operand removed",
            "s.agent is not None and",
            becomes,
            "for the type checker: of an agent that is gone, the row for those who are no members applies before",
        )
        for function, becomes in (("not_managed", "((not s.agent.managed))"), ("mistaken", "((s.agent.managed) and"))
    ),
    Equivalent(
        "workflow/launch_rules.py",
        "withdrawn",
        "and/or",
        "tree_state is not None and task is not None",
        "",
        "for the type checker: both are there, or none of them is",
    ),
    Equivalent(
        "workflow/launch_rules.py",
        "_facts_of_kept",
        "operand removed",
        "usable is None or",
        "((usable == used))",
        "for the type checker: what no program can do, none does instead",
    ),
    Equivalent(
        "workflow/launch_rules.py",
        "_facts_of_programs",
        "operand removed",
        "s.agent is not None and",
        "((first is not None)",
        "for the type checker: where there is no agent, none of its programs is hindered",
    ),
    Equivalent(
        "workflow/launch_rules.py",
        "would_start",
        "always",
        "tree_state is not None",
        "",
        "for the type checker: the tree of a main task is loaded with it",
    ),
    Equivalent(
        "workflow/next_action.py",
        "decide",
        "operand removed",
        'launch_rules.tripped(snapshot, session) or ""',
        "",
        "for the type checker: the row is that of a guard that has tripped",
    ),
    Equivalent(
        "workflow/snapshot.py",
        "RuleInput.open_delegations",
        "constant",
        "0",
        "(-1)",
        "it is only asked whether there are more than none",
    ),
    Equivalent(
        "storage/engine/sqlite.py",
        "_create",
        "everybody may read a new database",
        "0o600",
        "0o644",
        "the next line sets the mode of the file, which is still empty, as it does for one that was there before",
    ),
    Equivalent(
        "operations/overview/resources.py",
        "_answer",
        "constant",
        "32",
        "",
        "an etag only has to be another one when the answer is: 31 and 33 hexadecimal digits do that as well",
    ),
    Equivalent(
        "operations/launches/placement.py",
        "_problem",
        "operand removed",
        "seen.capabilities or []",
        "((seen.capabilities))",
        "for the type checker: of a Coordinator that refuses for want of a capability, they are never None",
    ),
    Equivalent(
        "operations/calls/call_log.py",
        "silent",
        "answer",
        "operation.reads",
        "return False",
        "a shortcut: what is not silent is composed, and `write` then leaves it out by the same two facts",
    ),
    Equivalent(
        "operations/worktrees/reviews.py",
        "by_task",
        "operand removed",
        "human or _humans(call, known)",
        "_humans",
        "what is passed is what would be read: it saves a statement",
    ),
    Equivalent(
        "operations/tasks/mutations.py",
        "_hopeless",
        "operand removed",
        'review.review_of or ""',
        "((review.review_of))",
        "for the type checker: a review is of a task",
    ),
    Equivalent(
        "operations/overview/quotas.py",
        "_quota",
        "constant",
        "0",
        "-1",
        "an account that is not used up until any time: both are before now",
    ),
    Equivalent(
        "operations/worktrees/merge_queue.py",
        "finished_work",
        "operand removed",
        "task is None or task.completed_at is None",
        "(task is None) or (task.id in at_work)",
        "for the type checker: work to review is of completed tasks",
    ),
    Equivalent(
        "server/allowed_hosts.py",
        "Hosts.refusal",
        "and/or",
        "self._open or host in self._good",
        "",
        "a shortcut: of a name that is open to all, or was good before, `_judge` finds the same again",
    ),
    Equivalent(
        "server/rest.py",
        "Rest._follow",
        "constant",
        "405",
        "",
        "what an endpoint refuses with any status but 404 is answered as 405, by `lost`",
    ),
    Equivalent(
        "operations/schedules/runs.py",
        "keep_time",
        "always",
        "len(come) == COUNTED",
        "",
        "where fewer have come, there are none after the last one: it saves a look",
    ),
    Equivalent(
        "coordinator/program_output.py",
        "Reading.line",
        "operand removed",
        "document is None or self.parse is None",
        "((document is None))",
        "for the type checker: where nothing reads them, no line is a document",
    ),
    Equivalent(
        "coordinator/jobs.py",
        "Jobs._checked.renew",
        "operand removed",
        "found is None or",
        "((found.clean.tree != tree))",
        "for the type checker: the same order has had a checkout, else nothing is renewed",
    ),
    Equivalent(
        "server/connection_limits.py",
        "BoundedProtocol._measure",
        "constant",
        "0",
        "(-1)",
        "one byte of some thousands more, of a head whose first piece is not counted at all",
    ),
    Equivalent(
        "coordinator/worktrees/creating.py",
        "_taken",
        "operand removed",
        "worktree.own and brings is not None and there is not None",
        "((worktree.own) and (brings is not None))",
        "for the type checker: whose branches are told was there when it was looked for",
    ),
    Equivalent(
        "coordinator/providers/gemini.py",
        "_parse",
        "operand removed",
        'line.get("tool_id") or ""',
        "((line.get(",
        "the id of no call is nobody's: the first call that is open is taken to be answered, as without one",
    ),
    Equivalent(
        "server/coalesced_writes.py",
        "CoalescingTransport.__init__",
        "statement dropped",
        " = transport.",
        "pass",
        "it only saves a detour: what it has not itself, it asks the transport for",
    ),
    Equivalent(
        "server/event_fan_out.py",
        "FanOut._read_on",
        "constant",
        "0.0",
        "",
        "the clock began with the machine: either is long ago",
    ),
    Equivalent(
        "server/request_bodies.py",
        "Leaving.__aenter__",
        "operand removed",
        "asyncio.current_task() or _no_task()",
        "((asyncio.current_task()))",
        "for the type checker: what is awaited runs in a task",
    ),
    Equivalent(
        "server/rest.py",
        "_answered",
        "constant",
        "200",
        "",
        "for the type checker: what is asked for over REST has a route",
    ),
    Equivalent(
        "coordinator/worktrees/commits_and_diffs.py",
        "_beginning",
        "constant",
        "1",
        "(2)",
        "a byte more than can be shown says that there is more; two say the same",
    ),
    Equivalent(
        "server/coalesced_writes.py",
        "CoalescingTransport.write",
        "comparison",
        "len(data) > _LARGE",
        "(len(data)) >= (_LARGE)",
        "the same bytes in one write or in two: which is better hardly differs for any length about this one",
    ),
    Equivalent(
        "server/mcp_fast_path.py",
        "recognise",
        "and/or",
        "call is None or token is None",
        "",
        "a call to which no token is added is the same call: it saves a copy",
    ),
    Equivalent(
        "server/trusted_proxies.py",
        "Proxies.seen",
        "constant",
        "0",
        "(-1)",
        "a port that is not known: neither is one of a connection",
    ),
)


def reason(fault: Fault) -> str:
    """Empty if it is not known to be equivalent."""
    return next((each.reason for each in EQUIVALENT if each.covers(fault)), "")

"""The aggregates on both databases: what is stored comes back as it was, and each question finds what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.storage.makers import NOW, Store, agent, launch, project, session, task
from toryo.domain.agents import Kind
from toryo.domain.agents import Status as AgentStatus
from toryo.domain.dependencies import Links
from toryo.domain.events import Event
from toryo.domain.handover import PAUSED, Handoff, Note, Notification
from toryo.domain.launches import Check, Purpose, State
from toryo.domain.projects import Settings
from toryo.domain.sessions import Choice, End
from toryo.domain.tasks import Approval, Checks, Details, Priority, Status, Wait
from toryo.storage.coordinators import Disk, Seen
from toryo.storage.engine.database import Connection
from toryo.storage.errors import ConstraintBroken
from toryo.storage.transaction import Transaction
from toryo.workflow.snapshot import Cooldown

pytestmark = pytest.mark.both

# --- what comes back -------------------------------------------------------------------------------------------------


def test_a_project_comes_back_as_it_was(store: Store):
    full = project("prj_2", settings=Settings(worker_subtasks=7, budget_per_day=1.5), paused_at=NOW, version=3)
    store.write(lambda tx: tx.projects.add(full))
    assert store.read(lambda tx: tx.projects.find("prj_2")) == full
    assert store.read(lambda tx: tx.projects.find("prj_none")) is None


def test_an_agent_comes_back_as_it_was_and_its_passkey_apart(store: Store):
    full = agent("w3", model="m", agent_type="builds", provider_options={"深い": [1, None]}, deactivated_at=NOW)
    store.write(lambda tx: tx.agents.add(full, "secret-hash"))
    assert store.read(lambda tx: tx.agents.find("w3")) == full
    assert store.read(lambda tx: tx.agents.passkey_hash("w3")) == "secret-hash"


def test_a_task_comes_back_as_it_was_with_all_that_was_noted_about_it(store: Store):
    full = task(
        "tsk_1",
        status=Status.BLOCKED,
        priority=Priority.CRITICAL,
        assignee_id="w1",
        approval=Approval.PENDING,
        blocked_by="boss",
        blocked_by_person=True,
        blocked_from=Status.IN_PROGRESS,
        blocked_on=("tsk_a", "tsk_b"),
        wait=Wait("workers", NOW, 5),
        look_event=0,
        look_dispatchable=("tsk_a",),
        checks=Checks.FAILED,
        moved_from=Status.TODO,
        version=9,
    )
    details = Details("words", {"a": [1, "ü"]}, ({"file": "x"},), {"result": "success"}, "sum", "err", "next", ("f",))
    store.write(lambda tx: tx.tasks.add(full, details))
    assert store.read(lambda tx: tx.tasks.find("tsk_1")) == full
    assert store.read(lambda tx: tx.tasks.details("tsk_1")) == details


def test_a_launch_and_its_session_come_back_as_they_were(store: Store):
    ordered = launch("lau_1", stop_reason="runaway", seen_at=NOW, by_passkey=True)
    signed = session("ses_1", "lau_1", choice=Choice.WAIT, model_verified=False, told_times=3, report="{}")
    store.each(lambda tx: tx.launches.add(ordered, "credential"), lambda tx: tx.sessions.add(signed, "token"))
    assert store.read(lambda tx: tx.launches.find("lau_1")) == ordered
    assert store.read(lambda tx: tx.launches.by_credential("credential")) == ordered
    assert store.read(lambda tx: tx.sessions.find("ses_1")) == signed
    assert store.read(lambda tx: tx.sessions.by_token("token")) == signed
    assert store.read(lambda tx: tx.sessions.of_launch("lau_1")) == signed


# --- tasks -----------------------------------------------------------------------------------------------------------


def test_saving_stores_what_differs_and_counts_versions_of_what_is_shown(store: Store):
    first = task("tsk_1")
    store.add_tasks(first)
    second = store.write(lambda tx: tx.tasks.save(first, replace(first, title="New")))
    assert second.version == 2
    same = store.write(lambda tx: tx.tasks.save(second, second))
    assert same.version == 2
    noted = store.write(lambda tx: tx.tasks.save(second, replace(second, look_event=4, wait=Wait("others", NOW, 4))))
    assert noted.version == 2
    assert store.read(lambda tx: tx.tasks.find("tsk_1")) == noted


def test_two_who_save_different_fields_lose_none_of_them(store: Store):
    first = task("tsk_1")
    store.add_tasks(first)
    store.write(lambda tx: tx.tasks.save(first, replace(first, title="New title")))
    store.write(lambda tx: tx.tasks.save(first, replace(first, priority=Priority.HIGH)))
    kept = store.read(lambda tx: tx.tasks.find("tsk_1"))
    assert kept is not None
    assert (kept.title, kept.priority) == ("New title", Priority.HIGH)


def test_a_tree_has_its_tasks_their_order_and_the_dependencies_that_lead_out_of_it(store: Store):
    root, elsewhere = task("tsk_root"), task("tsk_else")
    late = task("tsk_late", root, ordinal=1)
    early = task("tsk_early", root)
    urgent = task("tsk_urgent", root, priority=Priority.CRITICAL, created_at=NOW + 5)
    store.add_tasks(root, elsewhere, late, early, urgent)
    store.each(
        lambda tx: tx.tasks.connect(late, ["tsk_else", "tsk_early"]),
        lambda tx: tx.tasks.connect(elsewhere, ["tsk_root"]),
    )
    tree = store.read(lambda tx: tx.tasks.tree("tsk_root"))
    assert [child.id for child in tree.children(root)] == ["tsk_urgent", "tsk_early", "tsk_late"]
    assert {dependency.id for dependency in tree.dependencies(late)} == {"tsk_else", "tsk_early"}
    assert set(tree.outside) == {"tsk_else"}
    assert "tsk_else" not in tree.tasks


def test_dependencies_are_connected_and_cut_and_asked_for_from_both_ends(store: Store):
    one, two = task("tsk_1"), task("tsk_2")
    store.add_tasks(one, two)
    store.write(lambda tx: tx.tasks.connect(two, ["tsk_1"]))
    assert store.read(lambda tx: tx.tasks.depends_on(["tsk_1", "tsk_2"])) == {"tsk_2": ["tsk_1"]}
    assert store.read(lambda tx: tx.tasks.dependants("tsk_1")) == ["tsk_2"]
    store.write(lambda tx: tx.tasks.disconnect(two, ["tsk_1", "tsk_none"]))
    assert store.read(lambda tx: tx.tasks.depends_on(["tsk_2"])) == {}


def test_a_task_is_linked_with_its_dependencies_its_children_and_its_parent(store: Store):
    root = task("tsk_root")
    store.add_tasks(root, task("tsk_child", root), task("tsk_other"))
    store.write(lambda tx: tx.tasks.connect(root, ["tsk_other"]))
    found = store.read(lambda tx: tx.tasks.linked(["tsk_root", "tsk_child", "tsk_none"]))
    assert found == {
        "tsk_root": Links(dependencies=["tsk_other"], children=["tsk_child"]),
        "tsk_child": Links(parent="tsk_root"),
    }


def test_a_dependency_on_what_is_not_there_cannot_be_stored(store: Store):
    one = task("tsk_1")
    store.add_tasks(one)
    with pytest.raises(ConstraintBroken):
        store.each(lambda tx: tx.tasks.connect(one, ["tsk_none"]))


def test_who_is_busy_with_main_tasks_and_subtasks_do_not_count(store: Store):
    main = task("tsk_main", assignee_id="w1", status=Status.IN_PROGRESS)
    own = task("tsk_own", main, assignee_id="w1", status=Status.IN_PROGRESS)
    others = task("tsk_others", main, assignee_id="w2", status=Status.IN_PROGRESS)
    store.add_tasks(main, own, others, task("tsk_todo", assignee_id="w2"))
    busy = store.read(lambda tx: tx.tasks.busy("prj_1", ["w1", "w2", "boss"]))
    assert busy == {"w1": frozenset({"tsk_main"}), "w2": frozenset({"tsk_others"})}


def test_who_is_at_work_since_when_and_in_which_trees(store: Store):
    store.add_tasks(
        task("tsk_1", assignee_id="w1", status=Status.IN_PROGRESS, moved_at=NOW + 7),
        task("tsk_2", assignee_id="w1", status=Status.IN_PROGRESS, moved_at=NOW + 3, left_at=NOW + 9),
        task("tsk_3", assignee_id="w2", status=Status.BLOCKED),
        task("tsk_4", status=Status.TODO),
    )
    found = store.read(lambda tx: tx.tasks.at_work())
    assert found == {("w1", "prj_1"): (NOW + 9, frozenset({"tsk_1", "tsk_2"}))}
    assert sorted(store.read(lambda tx: tx.tasks.roots_in_progress("prj_1", "w1"))) == ["tsk_1", "tsk_2"]
    assert store.read(lambda tx: tx.tasks.blocked("prj_1", "w2")) == 1


# --- agents ----------------------------------------------------------------------------------------------------------


def test_who_stands_above_and_below(store: Store):
    store.write(lambda tx: tx.agents.add(agent("w3", reports_to="w1"), None))
    assert {each.id for each in store.read(lambda tx: tx.agents.below("boss"))} == {"w1", "w2", "w3"}
    assert {each.id for each in store.read(lambda tx: tx.agents.with_superiors(["w3"]))} == {"w3", "w1", "boss"}
    assert store.read(lambda tx: tx.agents.tree())["w3"] == "w1"


def test_members_join_leave_and_join_again(store: Store):
    store.write(lambda tx: tx.agents.leave("prj_1", "w1", NOW + 5))
    assert store.read(lambda tx: tx.agents.members("prj_1")) == ("w2",)
    assert store.read(lambda tx: tx.agents.membership("prj_1", "w1")) == (NOW, NOW + 5)
    assert store.read(lambda tx: tx.agents.members_among("prj_1", ["w1", "w2", "boss"])) == frozenset({"w2"})
    store.write(lambda tx: tx.agents.join("prj_1", "w1", NOW + 9))
    assert store.read(lambda tx: tx.agents.projects_of("w1")) == ("prj_1",)
    assert store.read(lambda tx: tx.agents.membership("prj_1", "nobody")) is None


def test_managed_are_the_active_programs(store: Store):
    store.write(lambda tx: tx.agents.add(agent("lena", kind=Kind.HUMAN, provider=None), None))
    store.write(lambda tx: tx.agents.add(agent("old", status=AgentStatus.INACTIVE), None))
    assert store.read(lambda tx: tx.agents.managed()) == ("boss", "w1", "w2")


def test_cooldowns_are_one_per_purpose_and_program_and_the_next_end_is_known(store: Store):
    first = Cooldown(NOW + 60, "crashed", 1, "claude")
    again, other, of_all = (
        replace(first, until=NOW + 120, failures=2),
        Cooldown(NOW + 130, "rate_limited", 1, "gemini flash"),
        Cooldown(NOW + 110, "runaway", 1),
    )
    for each in (first, again, other, of_all):
        store.write(partial(_cool, "w1", each))
    store.write(lambda tx: tx.agents.cool("w2", Purpose.CHAT, Cooldown(NOW + 90, "crashed", 1)))
    assert store.read(lambda tx: tx.agents.cooldowns("w1")) == {Purpose.TASK: [of_all, again, other]}
    assert store.read(lambda tx: tx.agents.next_cooldown_end(NOW)) == NOW + 90
    assert store.read(lambda tx: tx.agents.next_cooldown_end(NOW + 110)) == NOW + 120
    store.write(lambda tx: tx.agents.warm("w1", Purpose.TASK, [of_all, other]))
    assert store.read(lambda tx: tx.agents.cooldowns("w1")) == {Purpose.TASK: [again]}
    store.write(lambda tx: tx.agents.warm("w1", Purpose.TASK, []))
    store.write(lambda tx: tx.agents.warm("w1", Purpose.CHAT, [again]))
    assert store.read(lambda tx: tx.agents.cooldowns("w1")) == {Purpose.TASK: [again]}


def test_of_several_ends_of_an_account_the_last_one_counts_whoever_is_stored_last(store: Store):
    for until in (NOW + 60, NOW + 120, NOW + 90):
        store.write(partial(_cool_account, until))
    assert store.read(lambda tx: tx.agents.accounts(["claude"])) == {"claude": (NOW + 120, "quota")}
    store.write(lambda tx: tx.agents.warm_account("claude"))
    store.write(partial(_cool_account, NOW + 30))
    assert store.read(lambda tx: tx.agents.accounts(["claude"])) == {"claude": (NOW + 30, "quota")}


def _cool_account(until: int, tx: Transaction) -> None:
    tx.agents.cool_account("claude", until, "quota")


def _cool(agent_id: str, cooldown: Cooldown, tx: Transaction) -> None:
    tx.agents.cool(agent_id, Purpose.TASK, cooldown)


# --- launches and sessions -------------------------------------------------------------------------------------------


def test_who_has_a_launch_and_until_when_somebody_has_to_sign_in(store: Store):
    def ordered(name: str, agent: str, deadline: int, **more: Any) -> Callable[[Transaction], bool]:
        made = replace(launch(name), agent_id=agent, deadline=deadline, **more)
        return lambda tx: tx.launches.add(made, f"of {name}")

    store.each(
        ordered("lau_1", "w1", 100),
        ordered("lau_2", "w2", 200, purpose=Purpose.CHAT),
        ordered("lau_3", "boss", 50, state=State.SIGNED_IN),
        ordered("lau_4", "w2", 60, state=State.EXITED),
    )
    assert store.read(lambda tx: tx.launches.have_one(Purpose.TASK)) == {("w1", "prj_1"), ("boss", "prj_1")}
    assert store.read(lambda tx: tx.launches.have_one(Purpose.CHAT)) == {("w2", "prj_1")}
    assert [each.id for each in store.read(lambda tx: tx.launches.overdue(100))] == ["lau_1"]
    assert store.read(lambda tx: [tx.launches.next_deadline(each) for each in (0, 99, 100, 200)]) == [
        *(100, 100),
        *(200, None),
    ]
    assert store.read(lambda tx: tx.launches.projects_of(["lau_4", "lau_0"])) == {"prj_1"}


def test_only_one_live_launch_per_agent_project_and_purpose_can_be_added(store: Store):
    assert store.write(lambda tx: tx.launches.add(launch("lau_1"), "c1"))
    assert not store.write(lambda tx: tx.launches.add(launch("lau_2", fence=2), "c2"))
    assert store.write(lambda tx: tx.launches.add(launch("lau_3", purpose=Purpose.CHAT), "c3"))
    first = launch("lau_1")
    store.write(lambda tx: tx.launches.save(first, replace(first, state=State.EXITED)))
    assert store.write(lambda tx: tx.launches.add(launch("lau_4", fence=2), "c4"))
    assert store.read(lambda tx: tx.launches.next_fence("w1", "prj_1", Purpose.TASK)) == 3
    live = store.read(lambda tx: tx.launches.live_of("prj_1", "w1"))
    assert {purpose: each.id for purpose, each in live.items()} == {Purpose.TASK: "lau_4", Purpose.CHAT: "lau_3"}


def signed_in(store: Store, token: str) -> None:
    store.each(
        lambda tx: tx.launches.add(launch("lau_1"), "c1"),
        lambda tx: tx.sessions.add(session("ses_1", "lau_1"), token),
    )


def test_sessions_that_expired_are_found_until_they_are_ended(store: Store):
    signed_in(store, "t1")
    assert store.read(lambda tx: tx.sessions.expired(NOW + 89_999)) == []
    (found,) = store.read(lambda tx: tx.sessions.expired(NOW + 90_000))
    store.write(lambda tx: tx.sessions.save(found, replace(found, ended_at=NOW, end_reason=End.LEASE_EXPIRED)))
    assert store.read(lambda tx: tx.sessions.expired(NOW + 90_000)) == []
    assert store.read(lambda tx: tx.sessions.live()) == []
    ended = store.read(lambda tx: tx.sessions.find("ses_1"))
    assert ended is not None
    assert ended.end_reason is End.LEASE_EXPIRED


def test_a_renewed_token_replaces_the_old_one(store: Store):
    signed_in(store, "old")
    store.write(lambda tx: tx.sessions.renew_token("ses_1", "new"))
    assert store.read(lambda tx: tx.sessions.by_token("old")) is None
    assert store.read(lambda tx: tx.sessions.by_token("new")) is not None


def test_logs_are_kept_by_characters_and_read_from_any_of_them(store: Store):
    store.write(lambda tx: tx.launches.add(launch("lau_1"), "c1"))
    assert store.read(lambda tx: tx.launches.log_end("lau_1")) == 0
    store.each(
        lambda tx: tx.launches.append_log("lau_1", 0, "ab"),
        lambda tx: tx.launches.append_log("lau_1", 2, "棟梁"),
        lambda tx: tx.launches.append_log("lau_1", 4, "x", 7),
    )
    assert store.read(lambda tx: tx.launches.log_end("lau_1")) == 5
    assert store.read(lambda tx: tx.launches.log("lau_1", 3)) == [(2, "棟梁", None), (4, "x", 7)]
    assert store.read(lambda tx: tx.launches.log("lau_1", 5)) == []


def test_checks_wait_until_they_are_finished(store: Store):
    store.add_tasks(task("tsk_1"))
    check = Check("chk_1", "tsk_1", "prj_1", "lau_1", None, NOW)
    store.each(lambda tx: tx.launches.add(launch("lau_1"), "c1"), lambda tx: tx.launches.add_check(check))
    assert store.read(lambda tx: tx.launches.checks_waiting()) == [check]
    done = replace(check, finished_at=NOW, failures=[{"check": "x", "message": "no"}])
    store.write(lambda tx: tx.launches.save_check(check, done))
    assert store.read(lambda tx: tx.launches.checks_waiting()) == []
    assert store.read(lambda tx: tx.launches.check("chk_1")) == done


# --- events ----------------------------------------------------------------------------------------------------------


def event(kind: str, *, fact: bool = False, task_id: str | None = None, actor: str = "boss", **more: Any) -> Event:
    return Event(f"evt_{kind}_{task_id}", NOW, actor, False, kind, fact=fact,
                 root_id="tsk_root" if task_id else None, task_id=task_id, **more)  # fmt: skip


def happened(*what: Event) -> Callable[[Transaction], None]:
    def work(tx: Transaction) -> None:
        for each in what:
            tx.events.append(each)
        tx.events.flush()

    return work


def test_events_are_read_in_order_after_any_of_them(store: Store):
    store.write(happened(event("a", data={"n": 1}), event("b"), event("c")))
    found = store.read(lambda tx: tx.events.after(0, 10))
    assert [each.kind for each in found] == ["a", "b", "c"]
    assert found[0].data == {"n": 1}
    assert [each.kind for each in store.read(lambda tx: tx.events.after(found[0].sequence, 1))] == ["b"]
    assert store.read(lambda tx: tx.events.last()) == found[-1].sequence
    assert store.read(lambda tx: tx.events.after(found[-1].sequence, 10)) == []


def test_facts_of_a_tree_are_told_apart_from_what_merely_happened(store: Store):
    store.write(happened(event("task.started", fact=True, task_id="tsk_1", actor="w1"), event("note", task_id="tsk_1")))
    newest = store.read(lambda tx: tx.events.last_fact("tsk_root"))
    assert [each.kind for each in store.read(lambda tx: tx.events.facts_after("tsk_root", 0))] == ["task.started"]
    assert store.read(lambda tx: tx.events.news("tsk_root", 0)) == [("task.started", "tsk_1", "w1", False)]
    assert store.read(lambda tx: tx.events.news("tsk_root", newest)) == []
    assert store.read(lambda tx: tx.events.last_fact("tsk_other")) == 0


def test_what_a_session_did_to_a_task_is_counted_by_kind(store: Store):
    store.write(
        happened(
            event("task.started", fact=True, task_id="tsk_1", session_id="s1"),
            event("task.edited", fact=True, task_id="tsk_1", session_id="s1"),
            event("task.blocked", fact=True, task_id="tsk_1", session_id="s2"),
        )
    )
    kinds = {"task.started", "task.blocked"}
    assert store.read(lambda tx: tx.events.counted("tsk_1", "s1", kinds)) == 1


def test_events_of_a_work_that_failed_are_not_there(store: Store):
    def breaks(tx: Transaction) -> None:
        happened(event("a"))(tx)
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        store.write(breaks)
    assert store.read(lambda tx: tx.events.after(0, 10)) == []


# --- what sessions leave, and what is kept beside --------------------------------------------------------------------


def test_notes_and_handoffs_come_back_newest_first(store: Store):
    store.add_tasks(task("tsk_1"))
    older, newer = (Note(f"nte_{at}", "tsk_1", None, "w1", "p", None, None, "n", NOW + at) for at in (1, 2))
    handoff = Handoff("hnd_1", "tsk_1", "w1", None, "s", {"a": 1}, None, NOW)
    store.each(
        lambda tx: tx.handovers.add_note(older),
        lambda tx: tx.handovers.add_note(newer),
        lambda tx: tx.handovers.add_handoff(handoff),
    )
    assert store.read(lambda tx: tx.handovers.notes("tsk_1")) == [newer, older]
    store.write(lambda tx: tx.handovers.accept(handoff, "w2", NOW + 1))
    accepted = store.read(lambda tx: tx.handovers.handoff("hnd_1"))
    assert accepted == replace(handoff, accepted_at=NOW + 1, accepted_by="w2")


def test_notifications_wait_until_they_are_delivered_and_void_interrupts_are_dropped(store: Store):
    """The end of a pause voids its own interrupts; the task's return voids the others."""

    def notice(number: int, kind: str, cause: str | None = None) -> Notification:
        return Notification(f"ntf_{number}", "prj_1", "w1", Purpose.TASK, "ses_1", None, kind, "m", cause, NOW + number)

    store.each(
        lambda tx: tx.handovers.notify(notice(1, "interrupt", PAUSED)),
        lambda tx: tx.handovers.notify(notice(2, "interrupt", "task.blocked")),
        lambda tx: tx.handovers.notify(notice(3, "plan_change")),
    )

    def waiting() -> list[str]:
        return [notification.id for notification in store.read(lambda tx: tx.handovers.waiting("ses_1"))]

    assert waiting() == ["ntf_1", "ntf_2", "ntf_3"]
    store.write(lambda tx: tx.handovers.drop_interrupts("ses_1", of_pause=True))
    assert waiting() == ["ntf_2", "ntf_3"]
    store.write(lambda tx: tx.handovers.drop_interrupts("ses_1", of_pause=False))
    assert waiting() == ["ntf_3"]
    store.write(lambda tx: tx.handovers.deliver("ses_1", NOW))
    assert store.read(lambda tx: tx.handovers.count_waiting("ses_1")) == 0


def test_tokens_batches_decisions_and_coordinators_are_kept(store: Store):
    store.write(lambda tx: tx.tokens.add("h", "person", "n", NOW, agent_id="boss", login="owner"))
    store.write(lambda tx: tx.tokens.add("h", "person", "n", NOW))
    assert store.read(lambda tx: tx.tokens.find("h")) == ("person", "boss", "owner")
    store.write(lambda tx: tx.idempotency_keys.remember([(("w1", "tsk_1", "k"), "content", {"a": "tsk_2"}, NOW)]))
    found = store.read(lambda tx: tx.idempotency_keys.find([("w1", "tsk_1", "k"), ("w1", "tsk_1", "new")]))
    assert found == {("w1", "tsk_1", "k"): ("content", {"a": "tsk_2"})}
    store.each(
        lambda tx: tx.launches.remember_decision("w1", "prj_1", "task", "hold", NOW),
        lambda tx: tx.launches.remember_decision("w1", "prj_1", "task", "start", NOW),
    )
    assert store.read(lambda tx: tx.launches.last_decision("w1", "prj_1", "task")) == ("start", NOW)
    store.each(
        lambda tx: tx.coordinators.see(Seen("c1", 1), NOW),
        lambda tx: tx.coordinators.see(Seen("c1", 2, ["claude"], ["gpu"], agents=["w1"]), NOW),
    )
    assert store.read(lambda tx: tx.coordinators.all()) == [Seen("c1", 2, ["claude"], ["gpu"], None, ["w1"], NOW)]
    newest = Disk(3, 4, complete=True, measured_at=NOW)
    store.each(
        lambda tx: tx.coordinators.measured("c1", Disk(1, 2, complete=False, measured_at=NOW)),
        lambda tx: tx.coordinators.measured("c1", newest),
        lambda tx: tx.coordinators.measured("c2", newest),
        lambda tx: tx.coordinators.see(Seen("c1", 2, ["claude"], ["gpu"], agents=["w1"]), NOW),
    )
    assert store.read(lambda tx: tx.coordinators.all()) == [
        Seen("c1", 2, ["claude"], ["gpu"], None, ["w1"], NOW, newest),
        Seen("c2", 0, [], seen_at=NOW, disk=newest),
    ]
    assert store.read(lambda tx: tx.database_bytes()) > 10_000


def test_a_question_about_nothing_answers_nothing(store: Store):
    def nothing(connection: Connection) -> None:
        tx = Transaction(connection)
        assert tx.tasks.find_all([]) == []
        assert tx.tasks.details_of([]) == {}
        assert tx.tasks.busy("prj_1", []) == {}
        assert tx.agents.find_all([]) == []
        assert tx.launches.find_all([]) == []
        assert tx.tasks.details("tsk_none") == Details()

    store.database.read(nothing)

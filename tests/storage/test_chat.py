"""What is said, on both databases: it comes back as it was, and each question finds what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from tests.storage.makers import NOW, Store, agent, project, task
from toryo.domain.agents import Kind
from toryo.domain.conversations import Conversation, State
from toryo.domain.delegations import Delegation, DelegationStatus
from toryo.domain.messages import Mailbox, Message, MessageKind, thread_of
from toryo.domain.panels import Viewer
from toryo.storage import chat, conversations, delegations, mailboxes, messages, panels, schema, threads
from toryo.storage.errors import ConstraintBroken
from toryo.storage.transaction import Transaction

pytestmark = pytest.mark.both


def message(sequence: int, writer: str = "w1", to: str = "w2", **more: Any) -> Message:
    values: dict[str, Any] = {
        "id": f"msg_{sequence}",
        "project_id": "prj_1",
        "sequence": sequence,
        "thread": thread_of(writer, to),
        "from_agent_id": writer,
        "to_agent_id": to,
        "kind": MessageKind.MESSAGE,
        "content": f"word {sequence}",
        "conversation_id": None,
        "related_task_id": None,
        "created_at": NOW + sequence,
    }
    return Message(**{**values, **more})


def conversation(conversation_id: str, initiator: str = "w1", partner: str = "w2", **more: Any) -> Conversation:
    low, high = sorted((initiator, partner))
    values: dict[str, Any] = {
        "id": conversation_id,
        "project_id": "prj_1",
        "low_id": low,
        "high_id": high,
        "initiator_id": initiator,
        "partner_id": partner,
        "purpose": "colours",
        "state": State.ACTIVE,
        "turns": 1,
        "max_turns": 20,
        "turn_of": partner,
        "delegation_id": None,
        "task_id": None,
        "created_at": NOW,
        "last_turn_at": NOW,
    }
    return Conversation(**{**values, **more})


def delegation(delegation_id: str, **more: Any) -> Delegation:
    values: dict[str, Any] = {
        "id": delegation_id,
        "project_id": "prj_1",
        "agent_id": "w1",
        "task_id": "tsk_1",
        "root_id": "tsk_1",
        "target_agent_id": "w2",
        "purpose": "Agree on colours.",
        "context": {"深い": [1, None]},
        "await_result": True,
        "status": DelegationStatus.PENDING,
        "created_at": NOW,
    }
    return Delegation(**{**values, **more})


def viewer(viewer_id: str, agent_id: str = "w1", **more: Any) -> Viewer:
    values: dict[str, Any] = {"opened_at": NOW, "seen_at": NOW, **more}
    return Viewer(viewer_id, "prj_1", agent_id, "lena", **values)


@pytest.fixture
def office(store: Store) -> Store:
    """The store with a person, a task, and a second project of the same agents."""

    def work(tx: Transaction) -> None:
        tx.agents.add(agent("lena", kind=Kind.HUMAN, provider=None), None)
        tx.projects.add(project("prj_2"))
        for each in ("w1", "w2"):
            tx.agents.join("prj_2", each, NOW)

    store.write(work)
    store.add_tasks(task("tsk_1"))
    return store


ADD: dict[type, Callable[[chat.Chats, Any], None]] = {
    Message: chat.Chats.add,
    Mailbox: chat.Chats.save_mailbox,
    Conversation: chat.Chats.add_conversation,
    Delegation: chat.Chats.add_delegation,
    Viewer: chat.Chats.add_viewer,
}


def put(office: Store, *nouns: Message | Mailbox | Conversation | Delegation | Viewer) -> None:
    """Stores each of them."""

    def work(tx: Transaction) -> None:
        for each in nouns:
            ADD[type(each)](tx.chat, each)

    office.write(work)


def ids(found: list[Any]) -> list[str]:
    return [each.id for each in found]


# --- nouns and columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "table"),
    [
        (messages.MESSAGES, schema.messages),
        (threads.THREADS, schema.threads),
        (mailboxes.MAILBOXES, schema.mailboxes),
        (conversations.CONVERSATIONS, schema.conversations),
        (delegations.DELEGATIONS, schema.delegations),
        (panels.VIEWERS, schema.viewers),
    ],
)
def test_every_field_of_what_is_said_is_a_column_of_its_name(rows: Any, table: Any):
    assert {field.name for field in fields(rows.noun)} == {column.name for column in table.columns}


FULL: list[tuple[Any, Callable[[Transaction, Any], None], Callable[[Transaction], Any]]] = [
    (
        message(1, content="界🦆\n", watched=True, conversation_id="cnv_1", related_task_id="tsk_1", used_for="tsk_2"),
        lambda tx, noun: tx.chat.add(noun),
        lambda tx: tx.chat.message("msg_1"),
    ),
    (
        Mailbox("prj_1", "w1", 3, 5, NOW, "ses_1", 2, ("cnv_1", "cnv_2"), 4, NOW + 1, NOW + 2, 7),
        lambda tx, noun: tx.chat.save_mailbox(noun),
        lambda tx: tx.chat.mailbox("prj_1", "w1"),
    ),
    (
        conversation(
            "cnv_1",
            state=State.ENDED,
            turns=4,
            delegation_id="dlg_1",
            task_id="tsk_1",
            ended_at=NOW + 3,
            ended_by="w2",
            reason="ended_by_participant",
            summary="blue",
            told_initiator_at=NOW + 4,
            told_partner_at=NOW + 5,
            settled=True,
        ),
        lambda tx, noun: tx.chat.add_conversation(noun),
        lambda tx: tx.chat.conversation("cnv_1"),
    ),
    (
        delegation(
            "dlg_1",
            await_result=False,
            status=DelegationStatus.COMPLETED,
            attempt=3,
            session_id="ses_1",
            conversation_id="cnv_1",
            processed_at=NOW + 1,
            ended_at=NOW + 2,
            result={"colour": ["blue", None]},
        ),
        lambda tx, noun: tx.chat.add_delegation(noun),
        lambda tx: tx.chat.delegation("dlg_1"),
    ),
    (viewer("vwr_1", closed_at=NOW + 9), lambda tx, noun: tx.chat.add_viewer(noun), lambda tx: tx.chat.viewer("vwr_1")),
]


@pytest.mark.parametrize(("noun", "add", "find"), FULL, ids=lambda each: type(each).__name__)
def test_what_was_said_comes_back_as_it_was(office: Store, noun: Any, add: Any, find: Any):
    office.write(lambda tx: add(tx, noun))
    assert office.read(find) == noun


def test_nothing_is_found_where_nothing_was_said(office: Store):
    for find in (
        lambda tx: tx.chat.message("msg_0"),
        lambda tx: tx.chat.conversation("cnv_0"),
        lambda tx: tx.chat.delegation("dlg_0"),
        lambda tx: tx.chat.viewer("vwr_0"),
        lambda tx: tx.threads.find("prj_1", "w1", "w2"),
        lambda tx: tx.chat.open_between("prj_1", "w1", "w2"),
        lambda tx: tx.chat.nth_last("prj_1", "w1", "w2", 1),
    ):
        assert office.read(find) is None
    assert office.read(lambda tx: tx.chat.mailbox("prj_1", "w2")) == Mailbox("prj_1", "w2")
    assert office.read(lambda tx: tx.chat.wanted(0)) == []


# --- messages --------------------------------------------------------------------------------------------------------


def test_messages_are_counted_by_project_and_a_number_is_given_once(office: Store):
    assert office.read(lambda tx: tx.chat.next_sequence("prj_1")) == 1
    put(office, message(1), message(2), message(7, id="msg_else", project_id="prj_2"))
    assert office.read(lambda tx: tx.chat.next_sequence("prj_1")) == 3
    assert office.read(lambda tx: tx.chat.next_sequence("prj_2")) == 8
    with pytest.raises(ConstraintBroken):
        put(office, message(2, id="msg_again"))
    assert office.read(lambda tx: tx.chat.at("prj_1", 2)) == message(2)
    assert office.read(lambda tx: tx.chat.at("prj_2", 2)) is None


def test_what_is_undelivered_follows_the_cursor_in_order(office: Store):
    put(
        office,
        message(1),
        message(2, "lena"),
        message(3, "w2", "w1"),
        message(4, kind=MessageKind.SYSTEM),
        message(5),
        message(6, id="msg_else", project_id="prj_2"),
    )
    box = Mailbox("prj_1", "w2")
    assert ids(office.read(lambda tx: tx.chat.undelivered(box, 20))) == ["msg_1", "msg_2", "msg_5"]
    assert ids(office.read(lambda tx: tx.chat.undelivered(box, 2))) == ["msg_1", "msg_2"]
    assert ids(office.read(lambda tx: tx.chat.undelivered(replace(box, cursor=2), 20))) == ["msg_5"]
    assert office.read(lambda tx: tx.chat.undelivered(replace(box, cursor=5), 20)) == []


def test_only_what_belongs_to_no_conversation_or_to_an_open_one_is_a_reason(office: Store):
    put(office, message(1), message(2, conversation_id="cnv_open"), message(3, conversation_id="cnv_over"))
    office.each(
        lambda tx: tx.chat.add_conversation(conversation("cnv_open", state=State.PENDING)),
        lambda tx: tx.chat.add_conversation(conversation("cnv_over", state=State.ENDING, ended_at=NOW)),
    )
    box = Mailbox("prj_1", "w2")
    assert office.read(lambda tx: tx.chat.newest_reason(box)) == 2
    assert office.read(lambda tx: tx.chat.newest_reason(replace(box, cursor=2))) == 0
    assert office.read(lambda tx: tx.chat.newest_reason(Mailbox("prj_2", "w2"))) == 0


def test_a_thread_is_read_from_both_sides_of_a_number(office: Store):
    put(office, *(message(number, *(("w1", "w2"), ("w2", "w1"))[number % 2]) for number in range(1, 7)))
    put(office, message(7, "lena", "w1"))
    both = thread_of("w2", "w1")
    assert ids(office.read(lambda tx: tx.chat.before("prj_1", both, 5, 2))) == ["msg_3", "msg_4"]
    assert ids(office.read(lambda tx: tx.chat.before("prj_1", both, 1 << 62, 2))) == ["msg_5", "msg_6"]
    assert ids(office.read(lambda tx: tx.chat.after("prj_1", both, 2, 2))) == ["msg_3", "msg_4"]
    assert office.read(lambda tx: tx.chat.after("prj_2", both, 0, 2)) == []


def test_a_conversation_shows_its_last_messages(office: Store):
    put(office, *(message(number, conversation_id="cnv_1") for number in (1, 2, 3)), message(4))
    assert ids(office.read(lambda tx: tx.chat.of_conversation("cnv_1", 2))) == ["msg_2", "msg_3"]


def test_when_one_said_its_last_words_to_another(office: Store):
    put(office, message(1), message(2, "w2", "w1"), message(3), message(4, "w1", "lena"), message(5))

    def nth(n: int) -> int | None:
        return office.read(lambda tx: tx.chat.nth_last("prj_1", "w1", "w2", n))

    assert [nth(1), nth(2), nth(3), nth(4)] == [NOW + 5, NOW + 3, NOW + 1, None]


def test_watched_messages_are_overdue_until_somebody_comes_or_their_writer_is_told(office: Store):
    watched = [message(number, "lena", watched=True) for number in (1, 2, 9)]
    put(office, *watched, message(3, "lena"), message(4, "lena", "w1", watched=True))
    assert ids(office.read(lambda tx: tx.chat.overdue(NOW + 4))) == ["msg_1", "msg_2", "msg_4"]
    office.write(lambda tx: tx.chat.unwatch_message(watched[0]))
    assert ids(office.read(lambda tx: tx.chat.overdue(NOW + 4))) == ["msg_2", "msg_4"]
    office.write(lambda tx: tx.chat.unwatch("prj_2", "w2"))
    office.write(lambda tx: tx.chat.unwatch("prj_1", "w2"))
    assert ids(office.read(lambda tx: tx.chat.overdue(NOW + 99))) == ["msg_4"]


def test_a_message_is_marked_as_used(office: Store):
    said = message(1, "lena")
    put(office, said)
    office.write(lambda tx: tx.chat.save_message(said, replace(said, used_for="tsk_1")))
    kept = office.read(lambda tx: tx.chat.message("msg_1"))
    assert kept == replace(said, used_for="tsk_1")


# --- threads and mailboxes -------------------------------------------------------------------------------------------


def test_threads_are_listed_by_their_newest_message_for_both_sides(office: Store):
    put(office, message(1, "w1", "lena"), message(2, "lena", "w2"), message(3, "w1", "lena"), message(4, "w1", "w2"))
    listed = office.read(lambda tx: tx.threads.listed("prj_1", "lena"))
    assert [(thread.other("lena"), thread.newest, thread.newest_at) for thread in listed] == [
        ("w1", 3, NOW + 3),
        ("w2", 2, NOW + 2),
    ]
    assert [thread.other("w1") for thread in office.read(lambda tx: tx.threads.listed("prj_1", "w1"))] == ["w2", "lena"]
    assert office.read(lambda tx: tx.threads.listed("prj_2", "lena")) == []


@pytest.mark.parametrize("person", ["lena", "zoe"])
def test_what_a_person_has_not_read_is_counted_on_either_side_of_a_thread(office: Store, person: str):
    """`lena` stands before `w1` in the name of their thread, `zoe` behind."""
    if person == "zoe":
        office.write(lambda tx: tx.agents.add(agent("zoe", kind=Kind.HUMAN, provider=None), None))
    put(office, message(1, "w1", person), message(2, person, "w1"), message(3, "w1", person))

    def unread(tx: Transaction) -> int:
        thread = tx.threads.find("prj_1", "w1", person)
        assert thread is not None
        return tx.threads.unread(thread, person)

    assert office.read(unread) == 2
    assert office.write(lambda tx: tx.threads.see("prj_1", person, "w1", 1)) is True
    assert office.read(unread) == 1
    assert office.write(lambda tx: tx.threads.see("prj_1", person, "w1", 1)) is False
    office.write(lambda tx: tx.threads.see("prj_1", person, "w1", 3))
    assert office.write(lambda tx: tx.threads.see("prj_1", person, "w1", 2)) is False
    assert office.read(unread) == 0
    put(office, message(4, "w1", person))
    assert office.read(unread) == 1
    assert office.write(lambda tx: tx.threads.see("prj_2", person, "w1", 9)) is False


def test_a_mailbox_is_replaced_as_a_whole(office: Store):
    box = Mailbox("prj_1", "w1").stored(4, NOW).handed_out(4, ("cnv_1",), "ses_1", NOW)
    office.each(lambda tx: tx.chat.save_mailbox(box), lambda tx: tx.chat.save_mailbox(box.confirmed()))
    assert office.read(lambda tx: tx.chat.mailbox("prj_1", "w1")) == box.confirmed()
    assert office.read(lambda tx: tx.chat.mailbox("prj_2", "w1")) == Mailbox("prj_2", "w1")


# --- conversations ---------------------------------------------------------------------------------------------------


def test_a_pair_has_one_open_conversation_in_a_project(office: Store):
    office.write(lambda tx: tx.chat.add_conversation(conversation("cnv_1")))
    with pytest.raises(ConstraintBroken):
        office.write(lambda tx: tx.chat.add_conversation(conversation("cnv_2", "w2", "w1", state=State.PENDING)))
    office.each(
        lambda tx: tx.chat.add_conversation(conversation("cnv_3", project_id="prj_2")),
        lambda tx: tx.chat.add_conversation(conversation("cnv_4", "w1", "boss")),
    )
    found = office.read(lambda tx: tx.chat.open_between("prj_1", "w1", "w2"))
    assert found is not None
    over = replace(found, state=State.ENDING, ended_at=NOW)
    office.write(lambda tx: tx.chat.save_conversation(found, over))
    assert office.read(lambda tx: tx.chat.open_between("prj_1", "w1", "w2")) is None
    office.write(lambda tx: tx.chat.add_conversation(conversation("cnv_2", "w2", "w1", state=State.PENDING)))


def test_what_is_not_settled_concerns_both_sides_and_what_time_may_change_is_found_everywhere(office: Store):
    over: dict[str, Any] = {"ended_at": NOW}
    put(
        office,
        conversation("cnv_1", state=State.ENDING, **over),
        conversation("cnv_2", state=State.ENDED, created_at=NOW + 1, **over),
        conversation("cnv_3", state=State.ENDED, settled=True, **over),
        conversation("cnv_4", "w2", "w1", created_at=NOW + 2),
        conversation("cnv_5", "boss", "w2"),
        conversation("cnv_6", project_id="prj_2", state=State.PENDING),
    )
    assert ids(office.read(lambda tx: tx.chat.unsettled("prj_1", "w1"))) == ["cnv_1", "cnv_2", "cnv_4"]
    assert ids(office.read(lambda tx: tx.chat.unsettled("prj_1", "boss"))) == ["cnv_5"]
    assert sorted(ids(office.read(lambda tx: tx.chat.all_unsettled()))) == ["cnv_1", "cnv_4", "cnv_5", "cnv_6"]


def test_how_many_conversations_a_pair_has_begun_lately(office: Store):
    over: dict[str, Any] = {"state": State.ENDED, "ended_at": NOW}
    put(office, *(conversation(f"cnv_{number}", created_at=NOW + number, **over) for number in range(3)))
    put(office, conversation("cnv_else", "w1", "boss", created_at=NOW + 9))

    def begun(after: int) -> int:
        return office.read(lambda tx: tx.chat.started_since("prj_1", "w1", "w2", NOW + after))

    assert [begun(-1), begun(0), begun(2)] == [3, 2, 0]


def test_conversations_are_listed_by_task_and_by_project(office: Store):
    over: dict[str, Any] = {"state": State.ENDED, "ended_at": NOW, "task_id": "tsk_1"}
    put(office, conversation("cnv_1", created_at=NOW + 2, **over), conversation("cnv_2", created_at=NOW + 1, **over))
    assert ids(office.read(lambda tx: tx.chat.conversations_of_task("tsk_1"))) == ["cnv_2", "cnv_1"]
    assert ids(office.read(lambda tx: tx.chat.conversations("prj_1"))) == ["cnv_1", "cnv_2"]
    assert office.read(lambda tx: tx.chat.conversations("prj_2")) == []


# --- delegations -----------------------------------------------------------------------------------------------------


def test_open_delegations_are_found_by_agent_and_task_and_those_awaited_are_counted(office: Store):
    put(
        office,
        delegation("dlg_1", created_at=NOW + 2),
        delegation("dlg_2", status=DelegationStatus.PROCESSING, session_id="ses_1"),
        delegation("dlg_3", status=DelegationStatus.FAILED, ended_at=NOW),
        delegation("dlg_4", await_result=False, created_at=NOW + 3),
        delegation("dlg_5", agent_id="w2", target_agent_id="w1", created_at=NOW + 4),
    )
    assert ids(office.read(lambda tx: tx.chat.open_delegations("prj_1", "w1"))) == ["dlg_2", "dlg_1", "dlg_4"]
    assert office.read(lambda tx: tx.chat.open_delegations("prj_2", "w1")) == []
    assert ids(office.read(lambda tx: tx.chat.all_open_delegations())) == ["dlg_2", "dlg_1", "dlg_4", "dlg_5"]
    assert office.read(lambda tx: len(tx.chat.delegations_of_task("tsk_1"))) == 5
    assert office.read(lambda tx: tx.chat.awaited("tsk_1")) == {"tsk_1": 3}
    assert office.read(lambda tx: tx.chat.awaited("tsk_else")) == {}


def test_a_delegation_is_saved_as_it_becomes(office: Store):
    before = delegation("dlg_1")
    after = replace(before, status=DelegationStatus.COMPLETED, ended_at=NOW, result=["blue", {"ü": 1.5}])
    office.each(lambda tx: tx.chat.add_delegation(before), lambda tx: tx.chat.save_delegation(before, after))
    assert office.read(lambda tx: tx.chat.delegation("dlg_1")) == after


# --- panels and who is wanted ----------------------------------------------------------------------------------------


def test_a_panel_is_open_while_it_is_heard_of_and_not_closed(office: Store):
    put(
        office,
        viewer("vwr_1", seen_at=NOW + 5),
        viewer("vwr_2", seen_at=NOW + 1),
        viewer("vwr_3", seen_at=NOW + 5, closed_at=NOW + 6),
        viewer("vwr_4", "w2", seen_at=NOW + 5),
    )
    assert ids(office.read(lambda tx: tx.chat.viewers("prj_1", "w1", NOW + 1))) == ["vwr_1"]
    assert office.write(lambda tx: tx.chat.close_stale_viewers(NOW + 1)) == 1
    assert office.write(lambda tx: tx.chat.close_stale_viewers(NOW + 1)) == 0
    stale = office.read(lambda tx: tx.chat.viewer("vwr_2"))
    assert stale is not None
    assert stale.closed_at == NOW + 1


def wanted(office: Store, heard_after: int = 0) -> list[tuple[int, str, str]]:
    found = office.read(lambda tx: tx.chat.wanted(heard_after))
    return [(since - NOW, agent_id, project_id) for since, agent_id, project_id, _ in found]


def test_whose_chat_has_something_to_do_and_since_when(office: Store):
    office.each(
        lambda tx: tx.chat.save_mailbox(Mailbox("prj_1", "w1", cursor=2, newest=3, waiting_since=NOW + 5)),
        lambda tx: tx.chat.save_mailbox(Mailbox("prj_2", "w1", cursor=3, newest=3, waiting_since=NOW)),
        lambda tx: tx.chat.add_delegation(delegation("dlg_1", created_at=NOW + 4)),
        lambda tx: tx.chat.add_delegation(
            delegation("dlg_2", agent_id="boss", status=DelegationStatus.PROCESSING, session_id="ses_1")
        ),
        lambda tx: tx.chat.add_conversation(
            conversation("cnv_1", "boss", "w2", state=State.PENDING, last_turn_at=NOW + 7)
        ),
        lambda tx: tx.chat.add_conversation(conversation("cnv_2", "w1", "boss", turn_of="w1", last_turn_at=NOW + 6)),
        lambda tx: tx.chat.add_conversation(conversation("cnv_3", "w1", "w2", state=State.ENDING, ended_at=NOW)),
    )
    assert wanted(office) == [(4, "w1", "prj_1"), (7, "w2", "prj_1")]
    assert [awaited for *_, awaited in office.read(lambda tx: tx.chat.wanted(0))] == [True, True]


def test_nobody_waits_for_whom_only_people_and_tasks_want(office: Store):
    office.each(
        lambda tx: tx.chat.save_mailbox(Mailbox("prj_1", "w1", newest=3, waiting_since=NOW)),
        lambda tx: tx.chat.add_delegation(delegation("dlg_1", agent_id="w2", created_at=NOW + 4)),
    )
    assert [awaited for *_, awaited in office.read(lambda tx: tx.chat.wanted(0))] == [False, False]


def test_a_panel_wants_an_agent_whose_last_chat_ended_before_it_was_opened(office: Store):
    office.each(
        lambda tx: tx.chat.add_viewer(viewer("vwr_1", opened_at=NOW + 2, seen_at=NOW + 9)),
        lambda tx: tx.chat.add_viewer(viewer("vwr_2", "w2", opened_at=NOW + 3, seen_at=NOW + 4)),
    )
    assert wanted(office) == [(2, "w1", "prj_1"), (3, "w2", "prj_1")]
    assert wanted(office, NOW + 4) == [(2, "w1", "prj_1")]
    office.write(lambda tx: tx.chat.save_mailbox(Mailbox("prj_1", "w1", left_at=NOW + 2)))
    office.write(lambda tx: tx.chat.save_mailbox(Mailbox("prj_2", "w2", left_at=NOW + 9)))
    assert wanted(office) == [(3, "w2", "prj_1")]

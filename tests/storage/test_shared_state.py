"""What every place for shared values promises: on both databases, and in Redis. And Redis away."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis

from tests.databases import KINDS
from tests.postgres_proxy import redis_proxy
from tests.storage.makers import NOW, Store, project
from toryo.domain.errors import Code, Refusal
from toryo.domain.queue import Entry
from toryo.domain.times import HOUR, SECOND
from toryo.storage.open_database import open_database, upgrade
from toryo.storage.shared_state import QUOTA, InDatabase, Quota
from toryo.storage.shared_state_redis import RedisState
from toryo.storage.transaction import Transaction

pytestmark = pytest.mark.both

HOURS = 2 * HOUR


class Place:
    """A place for shared values, each question as a call asks it."""

    def __init__(self, store: Store | None, redis: RedisState | None) -> None:
        self._store = store
        self._redis = redis

    def get(self, key: str = "k", project_id: str = "prj_1") -> Entry | None:
        found: Entry | None = self._ask(project_id, lambda shared: shared.get(project_id, key))
        return found

    def all(self, project_id: str = "prj_1") -> list[Entry]:
        found: list[Entry] = self._ask(project_id, lambda shared: shared.all(project_id))
        return found

    def put(
        self,
        value: Any,
        key: str = "k",
        *,
        project_id: str = "prj_1",
        by: str = "w1",
        now: int = NOW,
        ttl: int = HOURS,
        expected: int | None = None,
        quota: Quota = QUOTA,
    ) -> Entry:
        entry: Entry = self._ask(
            project_id, lambda shared: shared.put(project_id, key, value, by, now, ttl, expected, quota=quota)
        )
        return entry

    def refused(self, value: Any, **more: Any) -> Refusal:
        with pytest.raises(Refusal) as refusal:
            self.put(value, **more)
        assert refusal.value.code is Code.CONFLICT
        return refusal.value

    def _ask(self, project_id: str, work: Callable[[Any], Any]) -> Any:
        if self._redis is not None:
            return work(self._redis)
        assert self._store is not None

        def locked(tx: Transaction) -> Any:
            tx.lock_project(project_id)
            return work(InDatabase(tx))

        return self._store.write(locked)


@pytest.fixture(params=[*KINDS, pytest.param("redis", marks=pytest.mark.redis)])
def place(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Place]:
    if request.param == "redis":
        state = RedisState(request.getfixturevalue("redis_url"))
        yield Place(None, state)
        state.close()
        return
    sqlite = f"sqlite:///{tmp_path / 'toryo.db'}"
    url = sqlite if request.param == "sqlite" else request.getfixturevalue("postgres_empty")
    with open_database(url) as database:
        upgrade(database)
        store = Store(database)
        store.write(lambda tx: tx.projects.add(project("prj_10")))
        yield Place(store, None)


VALUES: list[Any] = [
    None,
    False,
    0,
    "",
    [],
    {},
    {"empty": {"list": [], "object": {}}},
    {"計画": '🏠 "quoted" \\ and\nlines\u2028'},
    [1.5, -1, 2**53 + 1, 2**63 - 1, 1e300],
    "x" * 262_000,
    [[[[[[]]]]]],
]


def test_a_value_comes_back_as_it_was(place: Place) -> None:
    for number, value in enumerate(VALUES):
        key = f"k{number}"
        wanted = Entry("prj_1", key, value, 1, NOW, "w1", NOW + HOURS)
        assert place.put(value, key) == wanted
        found = place.get(key)
        assert found == wanted
        assert type(found.value) is type(value)


def test_what_was_never_set_is_not_there(place: Place) -> None:
    assert place.get() is None
    assert place.all() == []


def test_its_version_grows_with_every_change(place: Place) -> None:
    assert [place.put("same", by=f"w{number}").version for number in range(1, 4)] == [1, 2, 3]
    found = place.get()
    assert found is not None
    assert (found.version, found.updated_by) == (3, "w3")


def test_the_first_writer_expects_none_and_the_next_one_what_it_has_read(place: Place) -> None:
    refusal = place.refused("x", expected=1)
    assert (refusal.details["key"], refusal.details["version"]) == ("k", 0)
    place.put("first", expected=0)
    assert place.refused("second", expected=0).details["version"] == 1
    assert place.put("second", expected=1).version == 2
    assert place.refused("third", expected=1).details["version"] == 2
    found = place.get()
    assert found is not None
    assert found.value == "second"


@pytest.mark.pitfall("F138")
def test_what_has_expired_is_remembered_and_its_version_goes_on(place: Place) -> None:
    place.put("old", ttl=10 * SECOND)
    later = NOW + 10 * SECOND
    found = place.get()
    assert found is not None
    assert not found.expired(later - 1)
    assert found.expired(later)
    place.refused("new", now=later, expected=1)
    assert place.put("new", now=later, expected=0).version == 2


def test_keys_of_any_sign_are_themselves_and_projects_are_apart(place: Place) -> None:
    keys = ["a", "B", "*", "a*", "[ab]", "a?", "back\\slash", "project:schema", "計画", "%s", ":x", "x" * 200, " a "]
    for key in keys:
        place.put(key, key)
    place.put("elsewhere", "a", project_id="prj_10")
    assert [entry.key for entry in place.all()] == sorted(keys)
    assert [entry.value for entry in place.all()] == sorted(keys)
    assert [entry.value for entry in place.all("prj_10")] == ["elsewhere"]
    assert place.all("prj_*") == []


@pytest.mark.deep
def test_more_than_a_thousand_are_listed_whole_and_in_order(place: Place) -> None:
    """Pages are cut from it by operations."""
    for number in range(1_003):
        place.put(number, f"key {number:04}")
    assert [entry.value for entry in place.all()] == list(range(1_003))


@pytest.mark.pitfall("F138")
def test_of_two_who_expect_the_same_version_one_is_refused(place: Place, at_once: Callable[..., list[Any]]) -> None:
    """F138: no update is lost."""
    place.put(0)

    def count_up(_: int) -> str:
        while True:
            found = place.get()
            assert found is not None
            try:
                place.put(found.value + 1, expected=found.version)
            except Refusal:
                continue
            return "done"

    assert at_once(8, count_up) == ["done"] * 8
    found = place.get()
    assert found is not None
    assert (found.value, found.version) == (8, 9)
    outcomes = at_once(8, lambda _: place.put("x", expected=9))
    assert sum(isinstance(outcome, Entry) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, Refusal) and outcome.code is Code.CONFLICT for outcome in outcomes) == 7


# --- forgetting ------------------------------------------------------------------------------------------------------


def test_the_database_forgets_what_expired_long_ago_and_nothing_else(store: Store) -> None:
    def put(tx: Transaction, key: str, ttl: int) -> Entry:
        return InDatabase(tx).put("prj_1", key, "x", "w1", NOW, ttl, None)

    store.each(lambda tx: put(tx, "old", SECOND), lambda tx: put(tx, "new", HOURS))
    assert store.write(lambda tx: tx.queues.forget_expired(NOW + SECOND)) == 1
    assert [entry.key for entry in store.read(lambda tx: tx.queues.entries("prj_1"))] == ["new"]


@pytest.mark.redis
def test_redis_forgets_by_itself_a_day_after_the_end(redis_url: str) -> None:
    state = RedisState(redis_url)
    state.put("prj_1", "k", "x", "w1", NOW, HOURS, None)
    with Redis.from_url(redis_url) as redis:
        name = b"toryo:state:prj_1:k"
        assert set(redis.keys("*")) == {name, b"toryo:state-sizes:prj_1"}
        assert HOURS + 23 * HOUR < redis.pttl(name) <= HOURS + 24 * HOUR
    state.close()


def test_what_a_project_keeps_is_bounded_in_bytes_and_in_number(place: Place) -> None:
    small = Quota(bytes=20, entries=2)

    def full(value: str, key: str, **more: Any) -> bool:
        try:
            place.put(value, key, quota=small, **more)
        except Refusal as refusal:
            return refusal.code is Code.LIMIT_REACHED
        return False

    assert full("x" * 30, "a"), "one value that is too long"
    assert not full("1234567", "a")
    assert not full("1234567", "b")
    assert full("1", "c"), "one too many"
    assert full("12345678901234567", "b"), "too long together"
    assert place.get("b").value == "1234567", "and what was there is there"  # type: ignore[union-attr]
    assert not full("123456789", "b"), "what it takes the place of does not count"
    assert not full("1", "c", project_id="prj_10"), "each project has its own"
    assert not full("1", "c", now=NOW + HOURS + SECOND), "what has expired does not count"


def test_a_project_beyond_its_quota_can_be_made_smaller(place: Place) -> None:
    """One from before there was a quota: what nobody needs is set with ttl 1, or to something shorter."""
    place.put("x" * 30, "a")
    place.put("y" * 30, "b")
    small = Quota(bytes=20, entries=1)
    with pytest.raises(Refusal):
        place.put("y" * 31, "b", quota=small)
    with pytest.raises(Refusal):
        place.put("z", "c", quota=small)
    place.put("x" * 30, "a", ttl=SECOND, quota=small)
    place.put("y", "b", quota=small)
    place.put("z", "b", quota=Quota(bytes=3, entries=1), now=NOW + SECOND)


def test_what_others_take_is_counted_in_bytes(place: Place) -> None:
    place.put("計画" * 3, "a")
    with pytest.raises(Refusal):
        place.put("x" * 8, "b", quota=Quota(bytes=29, entries=2))
    place.put("x" * 8, "b", quota=Quota(bytes=30, entries=2))


# --- Redis away ------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F137")
@pytest.mark.redis
def test_while_redis_is_away_every_call_is_refused_at_once_and_then_it_recovers_by_itself(redis_url: str) -> None:
    now = 0.0

    def away(state: RedisState) -> None:
        for work in (
            lambda: state.get("prj_1", "k"),
            lambda: state.all("prj_1"),
            lambda: state.put("prj_1", "k", "lost", "w1", NOW, HOURS, None),
        ):
            with pytest.raises(Refusal) as refusal:
                work()
            assert refusal.value.code is Code.UNAVAILABLE
            assert "Try again" in refusal.value.instruction

    with redis_proxy(redis_url) as wire:
        state = RedisState(wire.url, clock=lambda: now)
        state.put("prj_1", "k", "kept", "w1", NOW, HOURS, None)
        wire.cut()
        away(state)
        wire.mend()
        away(state)  # nobody is made to wait for it again within the same second
        now = 1.0
        found = state.get("prj_1", "k")
        assert found is not None
        assert (found.value, found.version) == ("kept", 1)
        wire.cut()
        wire.mend()
        again = state.get("prj_1", "k")  # a connection that was lost and is needed only now is no outage
        assert again == found
        state.close()


@pytest.mark.redis
def test_a_server_starts_without_redis_and_has_it_as_soon_as_it_is_there(redis_url: str) -> None:
    now = 0.0
    with redis_proxy(redis_url) as wire:
        wire.cut()
        state = RedisState(wire.url, clock=lambda: now)
        with pytest.raises(Refusal):
            state.get("prj_1", "k")
        wire.mend()
        now = 1.0
        assert state.get("prj_1", "k") is None
        state.close()


@pytest.mark.deep
def test_a_redis_that_hangs_is_asked_less_often_because_others_wait_for_whoever_asks() -> None:
    later = 0.0
    with socket.create_server(("127.0.0.1", 0)) as silent:
        state = RedisState(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", clock=lambda: time.monotonic() + later)

        def asked() -> bool:
            with pytest.raises(Refusal):
                state.get("prj_1", "k")
            silent.setblocking(False)
            try:
                silent.accept()[0].close()
            except BlockingIOError:
                return False
            return True

        assert asked()
        later = 5.0
        assert not asked()
        later = 60.0
        assert asked()
        state.close()

"""Entities are cheap at run time, and otherwise behave as dataclasses of the standard library."""

from __future__ import annotations

import ast
import copy
import dataclasses
import pickle
from dataclasses import field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import toryo
from tests.domain.things import agent
from toryo.domain.coordinators import Offer
from toryo.domain.events import Event
from toryo.domain.fast_dataclasses import dataclass, replace

SERVER = ("bus", "domain", "housekeeping", "operations", "server", "storage", "workflow")


@dataclass(frozen=True, slots=True)
class Parcel:
    id: str
    weight: int = 1
    tags: tuple[str, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict, hash=False)
    seen: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Route:
    stops: tuple[str, ...]

    @cached_property
    def length(self) -> int:
        return len(self.stops)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    rank: int
    name: str


@dataclass
class Counter:
    count: int = 0
    parts: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Checked:
    age: int

    def __post_init__(self) -> None:
        if self.age < 0:
            raise ValueError("negative")


@dataclass(frozen=True)
class Sealed:
    start: int
    seal: str = field(init=False, default="new")


def test_equality_and_hash_follow_the_fields() -> None:
    one, same = Parcel("a", notes={"x": 1}), Parcel("a", notes={"x": 1})
    assert one == same
    assert hash(one) == hash(same)
    assert one == Parcel("a", notes={"x": 1}, seen=3)
    assert one != Parcel("a")
    assert one != Parcel("b", notes={"x": 1})
    assert hash(one) == hash(Parcel("a"))
    assert repr(Place(1, "x")) == "Place(rank=1, name='x')"
    assert Place(1, "y") < Place(2, "a")


def test_entities_are_hashed_without_the_mappings_that_they_hold() -> None:
    made: list[Any] = [
        Event("e", 0, "ann", by_person=False, kind="task.created", data={"title": "t"}),
        Offer(None, None, None, (), accounts={"claude": ["second"]}),
        agent("ann"),
    ]
    assert all(isinstance(hash(each), int) for each in made)
    assert made[0] != dataclasses.replace(made[0], data={})


def test_a_class_is_decorated_with_or_without_options() -> None:
    """Within the test: what is decorated while its file is imported shows nothing of a decorator that broke since."""

    @dataclass
    class Plain:
        count: int = 0

    @dataclass()
    class Called:
        count: int = 0

    @dataclass(frozen=True, order=True)
    class Frozen:
        count: int = 0

    assert [Plain(1).count, Called(2).count, Frozen(3).count] == [1, 2, 3]
    assert Plain() == Plain()
    assert Frozen(1) < Frozen(2)
    assert hash(Frozen(1)) == hash(Frozen(1))
    for each in (Plain(), Called()):
        with pytest.raises(TypeError):
            hash(each)


def test_replace_changes_the_named_fields_of_a_copy() -> None:
    parcel = Parcel("a", 2, ("x",), {"y": 1})
    other = replace(parcel, weight=3, tags=())
    assert other == Parcel("a", 3, (), {"y": 1})
    assert parcel == Parcel("a", 2, ("x",), {"y": 1})
    assert replace(parcel) == parcel
    assert replace(parcel) is not parcel


def test_replace_refuses_a_field_that_does_not_exist() -> None:
    with pytest.raises(TypeError, match="Route has no field 'stop'"):
        replace(Route(()), stop=("a",))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Parcel has no field 'colour'"):
        replace(Parcel("a"), colour="red")  # type: ignore[call-arg]


def test_what_an_entity_has_cached_is_not_copied() -> None:
    route = Route(("a", "b"))
    assert route.length == 2
    assert replace(route, stops=("a",)).length == 1


def test_the_checks_of_an_entity_that_has_some_are_made_for_its_copies() -> None:
    assert replace(Checked(1), age=2).age == 2
    with pytest.raises(ValueError, match="negative"):
        replace(Checked(1), age=-1)


def test_a_field_that_nobody_may_give_is_made_anew_and_cannot_be_replaced() -> None:
    sealed = Sealed(1)
    sealed.seal = "broken"  # type: ignore[misc]
    assert replace(sealed, start=4).seal == "new"
    with pytest.raises(ValueError, match="seal"):
        replace(sealed, seal="mended")


def test_a_dataclass_of_the_standard_library_can_be_replaced_too() -> None:
    frozen = dataclasses.make_dataclass("Frozen", ["x"], frozen=True)
    assert replace(frozen(1), x=2) == frozen(2)
    with pytest.raises(TypeError):
        replace("text")  # type: ignore[type-var]


def test_entities_can_be_copied_pickled_and_listed() -> None:
    parcel = Parcel("a", 2, ("x",), {"y": 1})
    assert pickle.loads(pickle.dumps(parcel)) == parcel
    deep = copy.deepcopy(parcel)
    assert (deep, copy.copy(parcel)) == (parcel, parcel)
    assert deep.notes is not parcel.notes
    assert [each.name for each in fields(Parcel)] == ["id", "weight", "tags", "notes", "seen"]
    assert dataclasses.asdict(Place(1, "x")) == {"rank": 1, "name": "x"}
    assert dataclasses.replace(Place(1, "x"), rank=2) == Place(2, "x")


def test_slots_refuse_unknown_attributes() -> None:
    with pytest.raises(AttributeError):
        Parcel("a").colour = "red"  # type: ignore[attr-defined]


def test_a_class_that_is_not_frozen_has_no_hash() -> None:
    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)
    with pytest.raises(TypeError):
        hash(counter)


def test_only_a_type_checker_refuses_an_assignment() -> None:
    """mypy reports an `ignore` that is not needed: without the refusal `make check` fails."""
    parcel = Parcel("a")
    parcel.weight = 2  # type: ignore[misc]
    assert parcel.weight == 2


def test_the_server_uses_these_everywhere() -> None:
    """One way: no module of the server takes `dataclass` or `replace` from the standard library."""
    root = Path(toryo.__file__).parent
    found = {
        str(path.relative_to(root))
        for package in SERVER
        for path in (root / package).rglob("*.py")
        if path.name != "fast_dataclasses.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if {"dataclass", "replace"} & {each.name for each in node.names}
    }
    assert found == set()

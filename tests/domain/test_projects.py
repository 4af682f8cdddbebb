"""Settings of a project: defaults, names, and which values are possible."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import outcome, project, refused
from toryo.domain.conflict_forecast import ConflictPolicy
from toryo.domain.errors import Code, Refusal
from toryo.domain.projects import (
    HOSTS,
    Approvals,
    CommandsFrom,
    Decomposition,
    Isolation,
    Language,
    MergeQueue,
    Settings,
    Status,
    widened,
)
from toryo.domain.usages import Spent

DEFAULTS = {
    "language": "en",
    "decomposition": "required",
    "isolation": "none",
    "commands_from": "people",
    "approvals": "requests",
    "start": "manual",
    "dependencies": "completed",
    "required_checks": [],
    "worktree_setup": [],
    "worktree_copy": [],
    "network": "model",
    "network_hosts": [],
    "setup_network": [],
    "ports": [],
    "merge_queue": "off",
    "merge_batch_size": 5,
    "pull_requests": "off",
    "conflict_policy": "warn",
    "retry_attempts": 3,
    "stall_seconds": 120,
    "budget_per_day": None,
    "tokens_per_day": None,
    "worker_subtasks": 5,
    "open_subtasks": 20,
    "subtasks_ever": 60,
    "tree_depth": 4,
    "open_requests": 5,
    "requests_per_hour": 20,
    "open_delegations": 5,
    "delegations_ever": 20,
}


def test_the_defaults_are_the_specified_ones() -> None:
    assert Settings().values() == DEFAULTS


def test_values_that_are_possible_are_taken_and_the_others_stay() -> None:
    changed = Settings().changed(
        {
            "language": "ja",
            "decomposition": "never",
            "isolation": "worktree",
            "commands_from": "managers",
            "approvals": "all",
            "retry_attempts": "7",
            "budget_per_day": "12.5",
        }
    )
    assert changed.language is Language.JAPANESE
    assert changed.decomposition is Decomposition.NEVER
    assert changed.isolation is Isolation.WORKTREE
    assert changed.commands_from is CommandsFrom.MANAGERS
    assert changed.approvals is Approvals.ALL
    assert (changed.retry_attempts, changed.budget_per_day, changed.tree_depth) == (7, 12.5, 4)


@pytest.mark.parametrize("number", [1, 1_000_000])
def test_a_number_may_be_the_least_and_the_greatest(number: int) -> None:
    assert Settings().changed({"tree_depth": number}).tree_depth == number


@pytest.mark.parametrize("number", [0, 1_000_001, 1.5])
def test_a_number_beyond_them_or_between_two_is_refused_with_what_is_possible(number: float) -> None:
    refusal = refused(Code.VALIDATION_ERROR, Settings().changed, {"tree_depth": number})
    assert "1 to 1000000" in refusal.instruction


def test_what_is_shown_can_be_given_back() -> None:
    assert Settings().changed(Settings().values()) == Settings()


def test_an_unknown_name_is_refused_with_those_that_exist() -> None:
    refusal = refused(Code.VALIDATION_ERROR, Settings().changed, {"colour": "red"})
    assert "'colour'" in refusal.message
    assert refusal.instruction.startswith("Use one of: ")
    assert all(name in refusal.instruction for name in DEFAULTS)


NO_WORDS: list[Any] = ["xx", "off", "", None, 1, True, False, [], {}]
NO_NUMBERS: list[Any] = ["nan", "inf", math.nan, math.inf, -1, "x", [], True, 10**400]
IMPOSSIBLE: dict[str, list[Any]] = {
    "language": NO_WORDS,
    "decomposition": NO_WORDS,
    "retry_attempts": [*NO_NUMBERS, 0, 1.5, "", None, 10**7],
    "stall_seconds": [*NO_NUMBERS, 0],
    "budget_per_day": [*NO_NUMBERS, "-0.01"],
    "tokens_per_day": [*NO_NUMBERS, -1, "0.5", 1e300],
}


@pytest.mark.parametrize(("name", "bad"), [(name, bad) for name, all_bad in IMPOSSIBLE.items() for bad in all_bad])
def test_an_impossible_value_is_refused_with_what_is_possible(name: str, bad: object) -> None:
    refusal = refused(Code.VALIDATION_ERROR, Settings().changed, {name: bad})
    assert name in refusal.message
    assert refusal.instruction.startswith("Use ")


def test_required_checks_are_kept_as_they_are_given() -> None:
    given = [
        {"command": "make test", "timeout_seconds": 60, "retries": 2},
        {"command": ["make", "lint", ""]},
        {"file": "CHANGELOG.md"},
        {"diff": {"max_files": 0, "max_lines": 10, "forbidden_paths": ["*.lock"], "forbid_secrets": True}},
    ]
    settings = Settings().changed({"required_checks": given})
    assert settings.values()["required_checks"] == given
    assert Settings().changed(settings.values()) == settings


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        ("make test", [{"command": "make test"}]),
        ("[ -f README.md ]", [{"command": "[ -f README.md ]"}]),
        ('[ "$CI" = 1 ]', [{"command": '[ "$CI" = 1 ]'}]),
        ('[{"file": "a"}, "make"]', [{"file": "a"}, {"command": "make"}]),
        ('{"file": "a"}', [{"file": "a"}]),
        ('make a\n\n  make b \n{"file": "c"}', [{"command": "make a"}, {"command": "make b"}, {"file": "c"}]),
        ("none", []),
        ("", []),
    ],
)
def test_required_checks_written_as_text_are_json_or_a_check_per_line(text: str, checks: list[Any]) -> None:
    assert Settings().changed({"required_checks": text}).values()["required_checks"] == checks


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (7, "a list"),
        ("make\n{file: a}", "Check 2 is not a valid JSON object."),
        ('[{"command": "make"', "not a valid JSON list"),
        ('["make",]', "not a valid JSON list"),
        ([7], "Check 1"),
        ([[]], "Check 1"),
        ([{}], "exactly one of"),
        ([{"file": "a", "command": "b"}], "exactly one of"),
        (["make", {"file": 7}], "In check 2, file"),
        ([{"file": ""}], "file"),
        ([{"file": "a\0b"}], "file"),
        ([{"command": []}], "command"),
        ([{"command": ["make", 7]}], "command"),
        ([{"command": "make", "retries": 6}], "from 0 to 5"),
        ([{"command": "make", "retries": True}], "retries"),
        ([{"command": "make", "timeout_seconds": 0}], "from 1 to 3600"),
        ([{"file": "a", "retries": 1}], "belongs to a command"),
        ([{"diff": 7}], "diff"),
        ([{"diff": {}}], "limits nothing"),
        ([{"diff": {"forbid_secrets": False}}], "must be true"),
        ([{"diff": {"max_files": -1}}], "max_files"),
        ([{"diff": {"forbidden_paths": "a"}}], "forbidden_paths"),
        ([{"diff": {"forbidden_paths": []}}], "forbidden_paths"),
        ([{"diff": {"forbid_secrets": 1}}], "must be true"),
        ([{"file": f"{number}"} for number in range(21)], "at most 20"),
    ],
)
def test_what_is_no_check_is_refused_with_its_place(given: Any, told: str) -> None:
    refusal = refused(Code.VALIDATION_ERROR, Settings().changed, {"required_checks": given})
    assert told in refusal.message


@pytest.mark.parametrize(
    ("given", "near"), [([{"comand": "x"}], "command"), ([{"diff": {"max_file": 3}}], "max_files")]
)
def test_an_unknown_key_of_a_check_is_refused_with_the_nearest(given: Any, near: str) -> None:
    refusal = refused(Code.VALIDATION_ERROR, Settings().changed, {"required_checks": given})
    assert f"Did you mean {near}?" in refusal.instruction


def test_a_check_that_is_no_longer_required_widens_what_agents_may_do() -> None:
    before = Settings().changed({"required_checks": ["make test", "make lint"]})
    after = before.changed({"required_checks": ["make lint", "make all"]})
    [change] = widened(before, after)
    assert change.startswith('required_checks: [{"command": "make test"}, ')
    assert change.endswith('] → [{"command": "make lint"}, {"command": "make all"}]')
    assert widened(after, after.changed({"required_checks": ["make all", "make lint", "more"]})) == []


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        (["npm ci", "make seed"], ["npm ci", "make seed"]),
        ('["npm ci"]', ["npm ci"]),
        ("npm ci\n\n  make seed\n", ["npm ci", "make seed"]),
        ("[ -f package.json ] && npm ci", ["[ -f package.json ] && npm ci"]),
        ("", []),
        (None, []),
    ],
)
def test_what_sets_a_worktree_up_is_a_list_or_a_command_per_line(given: Any, lines: list[str]) -> None:
    settings = Settings().changed({"worktree_setup": given})
    assert settings.values()["worktree_setup"] == lines
    assert Settings().changed(settings.values()) == settings
    assert settings.tree_setup == ({"commands": lines, "copies": []} if lines else None)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("worktree_setup", '["npm ci"'),
        ("worktree_setup", [1]),
        ("worktree_setup", ["a\0b"]),
        ("worktree_copy", ["a\rb"]),
        ("worktree_setup", {"command": "npm ci"}),
        ("worktree_setup", 3),
        ("worktree_setup", ["x"] * 21),
        ("worktree_copy", ["x" * 1_001]),
        ("worktree_copy", ["../secrets"]),
        ("worktree_copy", ["/../secrets"]),
    ],
)
def test_what_cannot_set_a_worktree_up_is_refused(name: str, given: Any) -> None:
    refused(Code.VALIDATION_ERROR, Settings().changed, {name: given})


@pytest.mark.parametrize(
    ("name", "longest"), [("worktree_setup", 20_000), ("worktree_copy", 1_000)], ids=["commands", "patterns"]
)
def test_a_line_has_its_longest_and_the_refusal_an_example_of_its_kind(name: str, longest: int) -> None:
    line = "x" * longest
    assert Settings().changed({name: [f"  {line} ", "", "y"]}).values()[name] == [line, "y"]
    refusal = refused(Code.VALIDATION_ERROR, Settings().changed, {name: [f"{line}x"]})
    assert ("npm ci" in refusal.instruction, ".env.test" in refusal.instruction) == (
        name == "worktree_setup",
        name == "worktree_copy",
    )
    assert len(Settings().changed({name: ["x"] * 20}).values()[name]) == 20
    assert "at most 20" in refused(Code.VALIDATION_ERROR, Settings().changed, {name: ["x"] * 21}).instruction


def test_a_command_may_leave_the_directory_and_a_file_that_is_copied_may_not() -> None:
    assert Settings().changed({"worktree_setup": ["../install"]}).worktree_setup == ("../install",)
    assert Settings().changed({"worktree_copy": ["a/../b", "/c"]}).worktree_copy == ("a/../b", "/c")
    assert Settings().changed({"worktree_copy": ["a"]}).tree_setup == {"commands": [], "copies": ["a"]}


def test_more_files_that_are_copied_to_agents_widen_what_they_may_do() -> None:
    one = Settings().changed({"worktree_setup": ["npm ci"], "worktree_copy": [".env.test"]})
    assert widened(Settings(), one) == ['worktree_copy: [] → [".env.test"]']
    assert widened(one, Settings()) == []


def test_hosts_are_kept_in_the_one_way_in_which_they_are_compared() -> None:
    given = ["Example.ORG", "*.example.org:8443", "10.0.0.5:5000", "[FD00::5]:443", "example.org", "a.example:443"]
    settings = Settings().changed({"network": "allowlist", "network_hosts": given, "ports": ["3000", 8080, 3000]})
    hosts = ["example.org", "*.example.org:8443", "10.0.0.5:5000", "[fd00::5]:443", "a.example:443"]
    assert (settings.network_hosts, settings.ports) == (tuple(hosts), (3000, 8080))
    assert Settings().changed(settings.values()) == settings


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *(("network_hosts", [each]) for each in ("*", "*.org", "http://a.example", "a.example/x", "2130706433", "a b")),
        *(
            ("network_hosts", [each])
            for each in ("0x7f.1", "[::ffff:127.0.0.1]", "a.example:0", "a.example:x", "a:b:c")
        ),
        ("setup_network", ["../x"]),
        ("network", "everything"),
        ("ports", [80]),
        ("ports", [70000]),
        ("ports", ["x"]),
        ("ports", [[3000]]),
    ],
)
def test_what_is_no_host_and_no_port_is_refused(name: str, given: Any) -> None:
    refused(Code.VALIDATION_ERROR, Settings().changed, {name: given})


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize(
    ("given", "hosts"),
    [
        (None, []),
        ("", []),
        ("none", []),
        ([], []),
        ("a.example\n\n b.example ", ["a.example", "b.example"]),
        ('["a.example"]', ["a.example"]),
        (["a.example", " ", "A.example"], ["a.example"]),
        ([f"h{number}.example" for number in range(100)], [f"h{number}.example" for number in range(100)]),
    ],
)
def test_hosts_are_a_list_or_one_per_line_each_once(name: str, given: Any, hosts: list[str]) -> None:
    assert Settings().changed({name: given}).values()[name] == hosts


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["a.example", "*", "http://b"], "'*'"),
        ('["a.example"', "a.example"),
        ("a.example\nb b", "'b b'"),
        (["a.example", 7], "7"),
        (7, "7"),
        ({"a": "b"}, "{"),
        (["10.0.0.5:80", "127.0.0.1:80", "[::1]:443"], "127.0.0.1:80"),
    ],
)
def test_the_first_that_is_no_host_is_named(name: str, given: Any, told: str) -> None:
    assert told in refused(Code.VALIDATION_ERROR, Settings().changed, {name: given}).message


def test_there_are_at_most_a_hundred_hosts_and_twenty_ports() -> None:
    hosts = [f"h{number}.example" for number in range(101)]
    assert "at most 100" in refused(Code.VALIDATION_ERROR, Settings().changed, {"network_hosts": hosts}).instruction
    ports = list(range(2000, 2021))
    assert Settings().changed({"ports": ports[1:]}).values()["ports"] == ports[1:]
    assert "at most 20" in refused(Code.VALIDATION_ERROR, Settings().changed, {"ports": ports}).instruction


@pytest.mark.parametrize(
    ("given", "ports"),
    [
        (None, ()),
        ("", ()),
        ("none", ()),
        ([], ()),
        (3000, (3000,)),
        ("3000", (3000,)),
        ("3000\n 8080", (3000, 8080)),
        ("[3000, 3000]", (3000,)),
        ([1024, 65535, "2000"], (1024, 65535, 2000)),
        (3000.0, (3000,)),
    ],
)
def test_ports_are_numbers_a_list_or_one_per_line_each_once(given: Any, ports: tuple[int, ...]) -> None:
    found = Settings().changed({"ports": given}).ports
    assert (found, [type(each) for each in found]) == (ports, [int] * len(ports))


@pytest.mark.parametrize("given", [1023, 65536, 2000.5, True, [None], {"a": 1}, "[3000", "x"])
def test_what_is_no_port_is_refused_with_what_is(given: Any) -> None:
    assert "from 1024 to 65535" in refused(Code.VALIDATION_ERROR, Settings().changed, {"ports": given}).instruction


@pytest.mark.parametrize("listed", ["127.0.0.1", "127.0.0.1:80", "localhost:443", "[::1]", "127.9.9.9:1023"])
@pytest.mark.parametrize("name", HOSTS)
def test_an_address_of_the_loopback_that_no_sandbox_can_lead_to_is_refused_with_the_reason(
    name: str, listed: str
) -> None:
    answer = refused(Code.VALIDATION_ERROR, Settings().changed, {name: [listed]})
    assert "each with a port from 1024" in answer.instruction
    Settings().changed({name: ["127.0.0.1:1024", "10.0.0.5:80"]})


def test_what_lets_programs_reach_more_widens_what_they_may_do() -> None:
    wider: dict[str, Any] = {"network": "open", "network_hosts": ["a.example"], "ports": [3000]}
    for name, value in wider.items():
        after = Settings().changed({name: value})
        assert [each.partition(":")[0] for each in widened(Settings(), after)] == [name]
        assert widened(after, Settings()) == []
    own = Settings().changed({"setup_network": ["a.example"]})
    assert [each.partition(":")[0] for each in widened(Settings(), own)] == ["setup_network"]
    assert [each.partition(":")[0] for each in widened(own, Settings())] == ["setup_network"]


@pytest.mark.parametrize(
    ("word", "network"), [(True, "open"), (False, "off"), ("on", "open"), ("off", "off"), ("allowlist", "allowlist")]
)
def test_the_network_is_also_a_switch_as_it_was_before(word: Any, network: str) -> None:
    assert Settings().changed({"network": word}).values()["network"] == network


@pytest.mark.parametrize("off", ["off", False])
def test_a_merge_queue_is_turned_off_by_its_word_also_as_yaml_reads_it(off: Any) -> None:
    before = Settings().changed({"merge_queue": "automatic"})
    assert before.changed({"merge_queue": off}).merge_queue is MergeQueue.OFF
    assert widened(Settings(), before) == ["merge_queue: off → automatic"]
    assert widened(before, before.changed({"merge_queue": "manual"})) == []


@pytest.mark.parametrize("first", ["merge_queue", "pull_requests"])
def test_a_project_has_a_merge_queue_or_pull_requests_but_not_both(first: str) -> None:
    both = {"merge_queue": "manual", "pull_requests": "open"}
    before = Settings().changed({first: both[first]})
    for wanted in (before, Settings()):
        refusal = refused(Code.VALIDATION_ERROR, wanted.changed, both)
        assert "either a merge queue or pull requests" in refusal.message
    other = next(name for name in both if name != first)
    assert before.changed({first: "off", other: both[other]}).values()[other] == both[other]


def test_a_batch_may_be_of_one_and_of_fifty() -> None:
    assert [Settings().changed({"merge_batch_size": size}).merge_batch_size for size in (1, 50)] == [1, 50]


WIDER: dict[str, list[Any]] = {
    "commands_from": ["people", "managers"],
    "approvals": ["all", "requests"],
    "merge_queue": ["off", "manual", "automatic"],
    "budget_per_day": [3, None],
    "tokens_per_day": [0, None],
    "network": ["off", "model", "allowlist", "open"],
}
"""Settings with their values, from those with which agents may do least."""


@pytest.mark.parametrize("name", WIDER)
def test_only_a_step_to_more_widens_what_agents_may_do(name: str) -> None:
    settings = [Settings().changed({name: value}) for value in WIDER[name]]
    counts = name != "merge_queue"  # of its two other values, neither lets agents do anything by themselves
    for place, before in enumerate(settings):
        for later, after in enumerate(settings):
            wider = later > place if counts else (later == 2 and place < 2)
            assert bool(widened(before, after)) is wider
            if wider:
                was, now = before.values()[name], after.values()[name]
                assert widened(before, after) == [f"{name}: {was} → {'none' if now is None else now}"]


@pytest.mark.parametrize(
    ("before", "after", "wider"),
    [
        ([], ["a.example"], True),
        (["a.example"], [], True),
        (["a.example", "b.example"], ["a.example"], False),
        (["a.example"], ["b.example"], True),
        ([], [], False),
    ],
)
def test_a_list_of_hosts_for_the_setup_is_wider_with_another_host_and_with_none(
    before: list[str], after: list[str], *, wider: bool
) -> None:
    one, other = (Settings().changed({"setup_network": each}) for each in (before, after))
    assert bool(widened(one, other)) is wider


@pytest.mark.parametrize(
    ("limits", "spent", "used_up"),
    [
        ({}, (10, 10), None),
        ({"budget_per_day": 2}, (1.99, 10), None),
        ({"budget_per_day": 2}, (2, 0), "budget_per_day"),
        ({"tokens_per_day": 100}, (9, 99), None),
        ({"tokens_per_day": 100}, (0, 100), "tokens_per_day"),
        ({"budget_per_day": 2, "tokens_per_day": 100}, (2, 100), "budget_per_day"),
        ({"budget_per_day": 0}, (0, 0), "budget_per_day"),
        ({"tokens_per_day": 0}, (0, 0), "tokens_per_day"),
    ],
)
def test_a_budget_is_used_up_when_as_much_is_spent(
    limits: dict[str, Any], spent: tuple[float, int], used_up: str | None
) -> None:
    settings = Settings().changed(limits)
    assert settings.used_up_budget(Spent(usd=spent[0], tokens=spent[1])) == used_up
    assert settings.has_budget is bool(limits)


@pytest.mark.parametrize("isolation", Isolation)
@pytest.mark.parametrize("policy", ConflictPolicy)
def test_conflicts_are_forecast_between_worktrees_unless_that_is_off(
    isolation: Isolation, policy: ConflictPolicy
) -> None:
    forecast = Settings(isolation=isolation, conflict_policy=policy).forecasts_conflicts
    assert forecast is (isolation is Isolation.WORKTREE and policy is not ConflictPolicy.OFF)


@pytest.mark.parametrize(("name", "near"), [("langage", "language"), ("tokens_per_dy", "tokens_per_day")])
def test_a_name_that_is_nearly_one_is_answered_with_it(name: str, near: str) -> None:
    told = refused(Code.VALIDATION_ERROR, Settings().changed, {name: 1}).instruction
    assert told.startswith(f"Did you mean {near}? ")


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("tokens_per_day", 10**15, 10**15),
        ("tokens_per_day", "7", 7),
        ("tokens_per_day", 7.0, 7),
        ("budget_per_day", 10**15, 10.0**15),
        ("budget_per_day", 0, 0.0),
    ],
)
def test_a_budget_may_be_nothing_and_very_much(name: str, value: Any, kept: float) -> None:
    found = Settings().changed({name: value}).values()[name]
    assert (found, type(found)) == (kept, type(kept))


@pytest.mark.parametrize("name", ["tokens_per_day", "budget_per_day"])
def test_a_budget_beyond_that_is_refused_and_says_whether_it_must_be_whole(name: str) -> None:
    refusal = refused(Code.VALIDATION_ERROR, Settings().changed, {name: 10**15 + 1})
    assert ("whole number" in refusal.instruction) is (name == "tokens_per_day")


@pytest.mark.parametrize("size", [0, 51, 1.5, "many"])
def test_a_batch_has_a_size_that_can_be_checked(size: Any) -> None:
    refusal = refused(Code.VALIDATION_ERROR, Settings().changed, {"merge_batch_size": size})
    assert "from 1 to 50" in refusal.instruction


@pytest.mark.parametrize("none", [None, "", "none"])
def test_a_budget_may_be_taken_away(none: str | None) -> None:
    assert Settings(budget_per_day=3).changed({"budget_per_day": none}).budget_per_day is None
    assert Settings(tokens_per_day=3).changed({"tokens_per_day": none}).tokens_per_day is None


values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.lists(st.integers()))


@given(st.dictionaries(st.one_of(st.sampled_from(list(DEFAULTS)), st.text(max_size=8)), values, max_size=4))
def test_whatever_is_given_is_taken_or_refused_and_never_crashes(wanted: dict[str, Any]) -> None:
    changed = outcome(Settings().changed, wanted)
    if isinstance(changed, Refusal):
        assert changed.code is Code.VALIDATION_ERROR
        return
    assert all(type(value) is type(DEFAULTS[name]) for name, value in changed.values().items() if _is_count(name))
    assert isinstance(changed.required_checks, tuple)
    assert changed.budget_per_day is None or math.isfinite(changed.budget_per_day)


def _is_count(name: str) -> bool:
    return type(DEFAULTS[name]) is int


def test_only_an_active_project_is_active() -> None:
    assert [status for status in Status if project(status).active] == [Status.ACTIVE]

"""What a budget can do about each program: what it uses is known after each answer while it runs, once; and one of
which that is not known is not started where budgets limit it, unless a person has accepted that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.clis.programs import PROGRAMS
from tests.coordinator.providers.contract import STREAMS, Bench, recorded
from toryo.coordinator.config import ProviderConfig
from toryo.coordinator.orders import Launch
from toryo.coordinator.prices import Prices
from toryo.coordinator.process_start import Resumed
from toryo.coordinator.program_output import Reading
from toryo.coordinator.provider import Metering, Provider, Unmetered, refuse_unmetered
from toryo.coordinator.providers import BUILT_IN, codex, configured, gemini
from toryo.domain.budgets import Budget
from toryo.domain.usages import Spent

ONE_ANSWER = 110
"""Tokens, of the scripted model in the recordings."""
MOST_BETWEEN = 2 * ONE_ANSWER
"""Some programs tell what an answer used with the next one."""
FOLLOWED = [name for name, each in BUILT_IN.items() if each.metering is Metering.EACH_ANSWER]
PRICE = {"*": Prices(1_000, 1_000)}
FOREIGN = configured({"mine": ProviderConfig(cli_command="mine", cli_args=["{prompt}"])})["mine"]


def beside_of(provider: Provider) -> list[str]:
    """What the real program wrote beside its output, line by line as it did."""
    if provider.beside is None:
        return []
    for end in ("session", "otel"):
        path = STREAMS / provider.name / f"success.{end}"
        if path.exists():
            return [found for line in path.read_text().splitlines(True) for found in provider.beside.lines(line)]
    return []


def spent(reading: Reading) -> Spent:
    usage = reading.usage or {}
    return Spent(usage.get("input_tokens", 0) + usage.get("output_tokens", 0), usage.get("cost_usd") or 0.0)


def spent_on_the_way(provider: Provider) -> Iterator[Spent]:
    """After each line: what it wrote beside its output, then its output but for the last line, which tells all."""
    reading = Reading(provider.parse)
    output, _ = recorded(provider, "success")
    for line in [*beside_of(provider), *output.splitlines()[:-1]]:
        reading.line(line)
        yield spent(reading)


def test_each_program_of_a_model_says_how_it_is_followed() -> None:
    assert set(FOLLOWED) == set(PROGRAMS)


@pytest.mark.parametrize("name", FOLLOWED)
def test_each_program_is_stopped_within_two_answers_of_its_budget_as_it_was_recorded(name: str) -> None:
    budget = Budget(tokens=3 * ONE_ANSWER)
    after = next(each for each in spent_on_the_way(BUILT_IN[name]) if budget.used_up(each))
    assert 3 * ONE_ANSWER <= after.tokens <= 3 * ONE_ANSWER + MOST_BETWEEN


@pytest.mark.parametrize("name", FOLLOWED)
@pytest.mark.parametrize("late", [False, True])
def test_what_it_told_on_the_way_is_not_counted_again_at_its_end(name: str, late: bool) -> None:
    """`late`: what stands beside its output is read after that has ended."""
    provider = BUILT_IN[name]
    output, _ = recorded(provider, "success")
    beside = beside_of(provider)
    ends = Reading(provider.parse)
    for line in output.splitlines():
        ends.line(line)
    reading = Reading(provider.parse)
    for line in [*output.splitlines(), *beside] if late else [*beside, *output.splitlines()]:
        reading.line(line)
    alone = spent(ends).tokens or sum(1 for _ in beside) * ONE_ANSWER  # Copilot's output tells none
    assert spent(reading).tokens == alone
    assert reading.usage is not None
    assert (ends.usage or {}).get("turns") == reading.usage["turns"]


def test_a_second_run_in_the_same_session_counts_what_it_adds() -> None:
    for provider in (codex.PROVIDER, gemini.PROVIDER):
        output, _ = recorded(provider, "success")
        reading = Reading(provider.parse)
        for line in output.splitlines():
            reading.line(line)
        before, first = spent(reading).tokens, output.splitlines()
        reading.line(next(line for line in first if "thread.started" in line or '"init"' in line))
        total = {"input_tokens": 1_000, "output_tokens": 100, "cached_input_tokens": 0}
        told: Any = {"codex": {"type": "thread", "usage": total}, "gemini": {"type": "session", "id": "x"}}
        if provider is gemini.PROVIDER:
            told["gemini"]["tokens"] = {"input": 100, "output": 10, "total": 110}
        assert provider.parse is not None
        reading.also(provider.parse(told[provider.name]))
        assert spent(reading).tokens > before, provider.name


# --- where a program keeps its session --------------------------------------------------------------------------------


def test_the_file_of_a_thread_is_found_by_the_day_in_its_id_and_by_nothing_else(tmp_path: Path) -> None:
    thread, find = "01a229ee-7e59-7a73-a543-d1ad620310b6", codex.PROVIDER.beside
    assert find is not None
    assert not isinstance(find.file, str)
    assert find.file(tmp_path, thread) is None
    kept = tmp_path / "sessions" / "2026" / "11" / "29" / f"rollout-2026-11-29T23-50-25-{thread}.jsonl"
    kept.parent.mkdir(parents=True)
    kept.write_text("")
    assert find.file(tmp_path, thread) == kept, "the local day may be another one"
    assert [find.file(tmp_path, each) for each in ("*", "../x", thread[:-1] + "7")] == [None] * 3


def test_the_file_of_a_session_of_gemini_is_found_in_whatever_folder_the_project_has(tmp_path: Path) -> None:
    find = gemini.PROVIDER.beside
    assert find is not None
    assert not isinstance(find.file, str)
    kept = tmp_path / "tmp" / "work" / "chats" / "session-2026-11-30T00-50-931e854b.jsonl"
    kept.parent.mkdir(parents=True)
    kept.write_text("")
    assert find.file(tmp_path, "931e854b-f9d2-40e5-b9e3-e440ad35287b") == kept
    assert [find.file(tmp_path, each) for each in ("*", "931e854c-f9d2-40e5-b9e3-e440ad35287b")] == [None, None]


@pytest.mark.parametrize("provider", [codex.PROVIDER, gemini.PROVIDER], ids=lambda each: each.name)
def test_of_such_a_file_nothing_is_kept_that_was_said(provider: Provider) -> None:
    assert provider.beside is not None
    written = (STREAMS / provider.name / "success.session").read_text()
    garbage = '{"type":"event_msg","payload":{"type":"token_count","info":null}}\n{"tokens": 3}\n[1]\n{"token_count'
    lines = "\n".join(provider.beside.lines(written + garbage))
    assert "I am done" not in lines
    assert list(provider.beside.lines(garbage)) == []


def test_the_model_of_a_thread_is_known_from_its_file_while_it_still_answers() -> None:
    """Without it nobody knows what its tokens cost."""
    assert codex.PROVIDER.beside is not None
    assert codex.PROVIDER.parse is not None
    reading = Reading(codex.PROVIDER.parse)
    context = '{"type":"turn_context","payload":{"model":"gpt-5.1-codex"}}'
    usage = '{"type":"token_count","payload":{"info":{"total_token_usage":{"input_tokens":5,"output_tokens":1}}}}'
    for line in codex.PROVIDER.beside.lines(f"{context}\n{usage}\n"):
        reading.line(line)
    assert reading.usage is not None
    assert reading.usage["model"] == "gpt-5.1-codex"


THREAD = "01a229ee-7e59-7a73-a543-d1ad620310b6"
DAY = Path("sessions/2026/11/30")


def kept_in(place: Path) -> Path:
    file = place / DAY / f"rollout-2026-11-30T00-50-25-{THREAD}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"type":"event_msg"}\n')
    return file


def test_a_session_is_read_where_the_launch_has_it_and_one_that_goes_on_from_where_it_ended(tmp_path: Path) -> None:
    starter, beside = Bench(tmp_path, codex.PROVIDER).starter(codex.PROVIDER), codex.PROVIDER.beside
    assert beside is not None
    launch = Launch("lau_1", "agt_1", ai_type="codex")
    assert starter.file_beside(launch, beside, None) is None
    outside = kept_in(tmp_path / "home" / ".codex")
    assert starter.file_beside(launch, beside, THREAD) == outside
    own = tmp_path / "generated" / "lau_1.own" / "0"
    own.mkdir(parents=True)
    assert starter.file_beside(launch, beside, THREAD) is None, "in a sandbox it has a directory of its own"
    (own / "sessions").symlink_to(tmp_path / "home" / ".codex" / "sessions")
    assert starter.file_beside(launch, beside, THREAD) is None, "no link leads out of it"
    (own / "sessions").unlink()
    inside = kept_in(own)
    assert starter.file_beside(launch, beside, THREAD) == inside

    told, at = starter.told_beside(inside, beside, None)
    assert (told, at) == ("", inside.stat().st_size)
    with inside.open("a") as file:
        file.write('{"a":1}\n{"b"')
    told, at = starter.told_beside(inside, beside, at)
    assert told == '{"a":1}\n', "a line that is still written waits"


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_who_starts_a_program_knows_whether_it_goes_on_in_a_session(tmp_path: Path, name: str) -> None:
    earlier: dict[str, Any] = {"program_session": {"id": THREAD, "totals": {}}}
    for number, (keeps, resumed) in enumerate([(False, None), (True, None), (False, Resumed(THREAD, "Go on."))]):
        folder = tmp_path / str(number)
        folder.mkdir()
        seen = Bench(folder, BUILT_IN[name]).run(keeps_context=keeps, resumed=resumed, **earlier)
        assert seen.goes_on is (keeps or resumed is not None)


# --- what is not known ------------------------------------------------------------------------------------------------


def refused(provider: Provider, *, model: str | None = None, accepted: bool = False, **left: Any) -> bool:
    options = {"unmetered": True} if accepted else {}
    launch = Launch("lau_1", "agt_1", ai_type=provider.name, model=model, provider_options=options, **left)
    try:
        refuse_unmetered(launch, provider)
    except Unmetered as no:
        return "toryo agent edit agt_1 --option unmetered=true" in str(no)
    return False


USD: dict[str, Any] = {"budget_usd": 1.0}
TOKENS: dict[str, Any] = {"budget_tokens": 1_000}


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_what_is_built_in_starts_within_a_budget_that_can_limit_it(name: str) -> None:
    provider = BUILT_IN[name]
    assert not refused(provider), "without any budget"
    assert not refused(provider, **TOKENS)
    assert not refused(provider, **USD, **TOKENS), "the one in tokens limits it"
    assert not refused(replace(provider, prices=PRICE), **USD)
    told = provider.metering is Metering.AS_TOLD or provider.tells_cost
    assert refused(provider, **USD) is not told
    assert not refused(provider, **USD, accepted=True)


def test_a_price_for_another_model_is_none() -> None:
    priced = replace(codex.PROVIDER, prices={"gpt-5": Prices(1, 10)})
    assert [refused(priced, model=each, **USD) for each in ("gpt-5", "gpt-6", None)] == [False, True, False]


@pytest.mark.parametrize("left", [USD, TOKENS, {**USD, **TOKENS}])
def test_a_program_of_which_nothing_is_known_starts_where_nothing_limits_it_or_a_person_has_accepted_that(
    left: dict[str, Any],
) -> None:
    assert refused(FOREIGN, **left)
    assert refused(replace(FOREIGN, prices=PRICE), **left), "prices alone say nothing of it"
    assert not refused(FOREIGN, **left, accepted=True)
    assert not refused(FOREIGN)

"""Reviews of work: who may review it, what a verdict must say, and what the author is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.things import ANN, BOB, BOSS, CREW, HANA, agent, at_work, refused, todo
from toryo.domain import review_checks
from toryo.domain.agents import Agent
from toryo.domain.errors import Code
from toryo.domain.review_checks import Finding, Severity, Unable, Verdict
from toryo.domain.tasks import AcceptanceCheck, Checks

MEMBERS = {each.id for each in CREW}
WORK = at_work("work", "ann")


@pytest.mark.parametrize(
    ("who", "why"),
    [
        (BOB, None),
        (None, Unable.UNKNOWN),
        (ANN, Unable.AUTHOR),
        (HANA, Unable.NOT_WORKER),
        (agent("bob", human=True), Unable.NOT_WORKER),
        (BOSS, Unable.NOT_WORKER),
        (agent("new"), Unable.NOT_MEMBER),
        (agent("bob", active=False), Unable.INACTIVE),
        (agent("bob", provider=None), Unable.NO_PROVIDER),
        (agent("bob", provider="command"), Unable.RUNS_COMMANDS),
    ],
)
def test_reviewers_are_active_workers_of_the_project_that_are_started_and_not_the_author(
    who: Agent | None, why: Unable | None
) -> None:
    assert review_checks.unable(who, WORK, MEMBERS) is why
    assert review_checks.can_review(who, WORK, MEMBERS) is (why is None)
    if who is None or why is None:
        review_checks.refuse_reviewer(who, WORK, MEMBERS, "q")
        return
    told = refused(Code.VALIDATION_ERROR, review_checks.refuse_reviewer, who, WORK, MEMBERS, "q")
    assert ("is the author" in told.message) is (why is Unable.AUTHOR)
    assert told.message.startswith(who.id)
    assert "toryo answer q" in told.instruction
    told = refused(Code.VALIDATION_ERROR, review_checks.refuse_reviewer, who, WORK, MEMBERS, None)
    assert "toryo answer" not in told.instruction


def finding(severity: str, file: str | None = None, line: int | None = None) -> Finding:
    return {"severity": severity, "file": file, "line": line, "message": f" {severity} one "}


LOW, MEDIUM, HIGH = finding("low", "a.py", 7), finding("medium", "b.py"), finding("high")


@pytest.mark.parametrize(
    ("verdict", "findings", "summary"),
    [
        (Verdict.APPROVE, [], None),
        (Verdict.APPROVE, [LOW, MEDIUM], None),
        (Verdict.REQUEST_CHANGES, [LOW], None),
        (Verdict.REQUEST_CHANGES, [HIGH], " "),
        (Verdict.REQUEST_CHANGES, [], "More tests."),
    ],
)
def test_a_verdict_goes_with_findings_that_say_the_same(
    verdict: Verdict, findings: list[Finding], summary: str | None
) -> None:
    review_checks.refuse_contradiction(verdict, findings, summary)


@pytest.mark.parametrize(
    ("verdict", "findings", "summary", "told"),
    [
        (Verdict.APPROVE, [LOW, HIGH], "Fine.", "high severity"),
        (Verdict.REQUEST_CHANGES, [], None, "without saying which"),
        (Verdict.REQUEST_CHANGES, [], " \n", "without saying which"),
    ],
)
def test_a_verdict_that_contradicts_itself_is_refused(
    verdict: Verdict, findings: list[Finding], summary: str | None, told: str
) -> None:
    refusal = refused(Code.VALIDATION_ERROR, review_checks.refuse_contradiction, verdict, findings, summary)
    assert told in refusal.message


@pytest.mark.parametrize(
    ("findings", "summary", "said"),
    [
        (
            [LOW, HIGH, MEDIUM],
            " Nearly. ",
            "Nearly.\n[high] high one\n[medium] b.py: medium one\n[low] a.py:7: low one",
        ),
        ([HIGH], " ", "[high] high one"),
        ([HIGH], None, "[high] high one"),
        ([], "Nearly.", "Nearly."),
        ([], None, ""),
    ],
)
def test_the_author_is_told_the_summary_and_then_the_gravest_findings_first(
    findings: list[Finding], summary: str | None, said: str
) -> None:
    assert review_checks.review_in_words(findings, summary) == said


@pytest.mark.parametrize(("length", "said"), [(9_000, "x" * 9_000), (9_001, "x" * 8_999 + "…")])
def test_what_the_author_is_told_is_cut_at_its_longest(length: int, said: str) -> None:
    assert review_checks.review_in_words([], "x" * length) == said


def test_the_gravest_severity_is_the_first() -> None:
    assert list(Severity) == ["high", "medium", "low"]


# --- the checks of a task --------------------------------------------------------------------------------------------

REVIEW: AcceptanceCheck = {"review": {"by": "bob", "rubric": "Tests?"}}
RUN: AcceptanceCheck = {"command": "make"}


def test_reviews_are_told_from_what_a_program_runs() -> None:
    assert review_checks.run_by_program([RUN, REVIEW, {"file": "a"}]) == [RUN, {"file": "a"}]
    assert review_checks.reviews_among([RUN, REVIEW]) == [REVIEW]


def test_the_rounds_of_one_review_have_one_key_and_no_other_has_it() -> None:
    key = review_checks.key_of("t", REVIEW)
    turned: AcceptanceCheck = {"review": {"rubric": "Tests?", "by": "bob"}}
    assert review_checks.key_of("t", turned) == key
    others: list[tuple[str, AcceptanceCheck]] = [("u", REVIEW), ("t", {"review": {"by": "bob"}}), ("t", {"review": {}})]
    assert len({key, *(review_checks.key_of(*each) for each in others)}) == 4
    assert key == "review:fe83e467a25e3a1946155f0d2", "it is stored: another one would begin the rounds anew"


def test_a_review_has_three_rounds_if_its_check_says_nothing_else() -> None:
    once: AcceptanceCheck = {"review": {"rounds": 1}}
    assert [review_checks.rounds_of(each) for each in (REVIEW, once)] == [3, 1]


def test_a_review_is_named_by_who_does_it() -> None:
    assert [review_checks.name_of(each) for each in ("bob", None)] == ["review by bob", "review by a person"]


@pytest.mark.parametrize("checks", Checks)
@pytest.mark.parametrize("questions", [0, 1, 2])
def test_a_review_is_open_while_its_question_is(checks: Checks, questions: int) -> None:
    work = todo("t", "ann", checks=checks, open_questions=questions)
    assert review_checks.review_open(work) is (checks is Checks.IN_REVIEW and questions > 0)


def test_a_review_that_is_no_longer_needed_is_not_begun_and_one_that_is_cannot_be_withdrawn() -> None:
    facts: dict[str, Any] = review_checks.over(todo("t", "bob", review_of="work")).details
    assert facts["task_id"] == "t"
    refusal = review_checks.not_withdrawn("q", "work")
    assert (refusal.code, refusal.details) == (Code.NOT_NOW, {"question_id": "q", "task_id": "work"})
    assert "toryo task confirm work" in refusal.instruction
    assert review_checks.nothing_requested().code is Code.VALIDATION_ERROR

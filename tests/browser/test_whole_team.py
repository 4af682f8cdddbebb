"""The whole story, with real git, programs, a server and a browser: a team of three on one repository whose tasks
conflict, a test that fails only on the combined work, a flaky check, a reviewer that rejects twice, a question that is
answered on a phone, and a task that a schedule creates. Everything is merged, the tests pass at every commit of the
target, nothing is asked twice, and nobody is started for nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers
from tests.browser.browsers import PATIENT
from tests.scenarios.sites import Site
from tests.scenarios.test_merge_queue import TESTS, Team

pytestmark = [pytest.mark.deep, PATIENT]

PHONE = {"width": 390, "height": 844}
ROUNDS = 'echo "$(( $(cat round 2>/dev/null || echo 0) + 1 ))" > round'
JUDGES = 'test ! -e round || test "$(cat round)" -ge 3 || { echo "round $(cat round) is too early"; exit 1; }'
REVIEWER = {"tasks": [{"match": "Review: .+", "run": JUDGES}]}
QUESTION = {"question": "Which rate does Ben take?", "options": ["30", "31"]}


def test_everything_is_merged_whatever_happens_on_the_way(place: Site, chrome: Browser, tmp_path: Path) -> None:
    marks = place.signals / "marks"
    marks.mkdir()
    flaky = f"m={marks}/$(git rev-parse HEAD); test -e $m || {{ touch $m; echo unlucky; exit 1; }}"
    checks: list[dict[str, Any]] = [{"command": TESTS}, {"command": flaky, "retries": 1}, {"review": {"by": "rita"}}]
    team = Team(place, checks, conflict_policy="warn")
    repository = team.repository
    place.hire("rita", "shop", provider="script", provider_options={"script": REVIEWER})
    place.coordinator()

    ann = repository.order("ann", "Twenty", f"{ROUNDS}; echo 20 > rate; echo 'test -s rate' > test_ann.sh")
    asks = 'echo "$TORYO_ANSWER" > rate; echo "test -s rate" > test_ben.sh'
    ben = repository.order("ben", "Thirty", asks, context={"ask": QUESTION}, touches=["rate"])
    made = team.post(
        "/projects/shop/schedules",
        {
            "name": "guard",
            "title": "Guard",
            "assignee_id": "cat",
            "cron": "0 3 * * *",
            "time_zone": "Europe/Berlin",
            "context": {"command": "echo 'grep -qx 10 rate' > test_cat.sh"},
        },
    )
    cat = team.post(f"/schedules/{made['schedule']['schedule_id']}/run")["task_id"]

    with browsers.window(chrome, place, size=PHONE, touch=True) as window:
        page = window.page(f"/t/{ben}")
        page.get_by_role("region", name="Questions").get_by_role("button", name="30").tap()
        expect(page.get_by_role("region", name="Questions")).to_contain_text("30")
    team.done(ann, ben, cat)
    place.until("all wait", lambda: len(team.queue()["entries"]) == 3)
    for task, before in ((ben, cat), (ann, ben)):
        team.post(f"/tasks/{task}/merge-queue/move", {"before": before})
    team.go()
    team.until_merged(ann, ben, cat)

    assert repository.git("show", "main:rate") == "50"
    assert repository.git("show", "main:round") == "3"
    assert {"test_ann.sh", "test_ben.sh", "test_cat.sh"} <= set(repository.files())
    left = {each.removeprefix("toryo/") for each in repository.branches()} - {"main"}
    assert {place.look(each)["title"].split(":")[0] for each in left} == {"Review"}, "they go a day later"
    assert repository.git("status", "--porcelain") == ""
    assert team.main_is_green(TESTS, tmp_path) >= 4
    (conflict,) = place.history.of("merge_queue.conflict", task_id=ben)
    assert conflict["data"]["conflict"]["files"] == ["rate"]
    assert len(place.history.of("merge_queue.failed", task_id=cat)) == 1
    found = place.tasks("shop")
    titles = ("Resolve the conflict with main: Thirty", f"Fix the failed checks: {place.look(cat)['title']}")
    resolved, repaired = (place.look(found[each]["task_id"]) for each in titles)
    assert (resolved["assignee_id"], repaired["assignee_id"]) == ("ben", "cat")
    for each in (ann, "Twenty", "rate", "Thirty"):
        assert each in resolved["description"], "both sides are named"
    assert "test_cat.sh failed" in repaired["description"], "the evidence is there"
    merged = place.history.of("merge_queue.merged", "merge_queue.failed", "merge_queue.conflict")
    assert any(each["data"].get("flaky") for each in merged)
    assert len(place.history.of("question.asked", task_id=ben)) == 1
    assert len(place.history.of("review.changes_requested")) == 2
    assert place.history.idle_starts() == []

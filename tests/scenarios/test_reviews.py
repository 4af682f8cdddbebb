"""Reviews as real processes, with real git: an agent rejects twice, a person decides about another task, and only what
was approved is merged. Nobody is started for nothing.
"""

from __future__ import annotations

import pytest

from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

RAISES = 'echo "$(( $(cat price 2>/dev/null || echo 0) + 1 ))" > price'
"""What the author does in each round: the price rises by one."""
JUDGES = 'test "$(cat price)" -ge 3 || { echo "price is $(cat price), too low"; exit 1; }'
REVIEWER = {"tasks": [{"match": "Review: .+", "run": JUDGES}]}


def review_of(site: Site, task_id: str) -> str:
    """The open review of a task; empty if there is none."""
    found = site.people.rest("GET", f"/projects/shop/questions?task_id={task_id}&state=open")["questions"]
    return str(found[0]["question_id"]) if found else ""


def test_a_reviewer_rejects_twice_then_approves_and_only_then_the_work_is_merged(site: Site) -> None:
    checks = [{"command": "test -s price"}, {"review": {"by": "rita", "rubric": "Is the price high enough?"}}]
    repository = SiteRepository(site, "shop", merge_queue="automatic", required_checks=checks)
    site.hire("ann", "shop", provider="command")
    site.hire("rita", "shop", provider="script", provider_options={"script": REVIEWER})
    site.coordinator()
    task = repository.order("ann", "Price", RAISES)
    site.until_status(task, "completed")
    site.until("it is merged", lambda: repository.worktree(task)["state"] == "merged")
    site.until_idle()
    assert repository.git("show", "main:price") == "3"

    found = site.look(task)
    assert [(each["check"], each["outcome"]) for each in found["check_results"]] == [
        ("test -s price", "passed"),
        ("review by rita", "passed"),
    ]
    events = site.people.rest("GET", "/events?limit=1000")["events"]
    kinds = [each["kind"] for each in events if each["kind"].startswith("review.")]
    assert kinds == ["review.requested", "review.changes_requested"] * 2 + ["review.requested", "review.approved"]
    starts = [each["agent_id"] for each in events if each["kind"] == "launch.ordered"]
    assert starts == ["ann", "rita"] * 3, "one start for each round, and none for nothing"
    reviews = [each["review"] for each in site.people.rest("GET", "/projects/shop/worktrees")["worktrees"]]
    assert set(reviews) == {None}, "what a reviewer has looked at is not itself reviewed"
    assert repository.git("status", "--porcelain") == ""


def test_the_review_of_a_person_outlives_a_killed_server_and_completes_the_task_without_a_start(site: Site) -> None:
    repository = SiteRepository(site, "shop", required_checks=[{"review": {}}])
    site.hire("ann", "shop", provider="command")
    site.coordinator()
    task = repository.order("ann", "Price", RAISES)
    site.until("a person is asked", lambda: bool(site.people.rest("GET", "/needs-you")["items"]))
    site.server.kill()
    site.serve()
    site.until_idle()
    question = review_of(site, task)
    site.people.rest("POST", f"/questions/{question}/answer", {"choices": ["Request changes"], "text": "Once more."})
    site.until("it is reviewed again", lambda: review_of(site, task) not in ("", question))
    question = review_of(site, task)
    site.people.rest("POST", f"/questions/{question}/answer", {"choices": ["Approve"]})
    assert site.look(task)["status"] == "completed"
    site.until_idle()
    starts = [
        each for each in site.people.rest("GET", "/events?limit=1000")["events"] if each["kind"] == "launch.ordered"
    ]
    assert len(starts) == 2


def test_a_check_that_cannot_run_waits_for_a_person_and_its_agent_is_not_started_for_it(site: Site) -> None:
    """The command of the check is not there, with the work or without it; a person corrects the check."""
    repository = SiteRepository(site, "shop", required_checks=[{"command": "no-such-tool --all"}])
    site.hire("ann", "shop", provider="command")
    site.coordinator()
    task = repository.order("ann", "Price", "echo 1 > price")
    site.until("a person is asked", lambda: review_of(site, task) != "")
    site.until_idle()
    found = site.look(task)
    assert (found["status"], [each["outcome"] for each in found["check_results"]]) == ("in_progress", ["error"])
    asked = site.people.rest("GET", f"/questions/{review_of(site, task)}")["question"]
    assert "no-such-tool" in asked["question"]
    project = {"settings": {"required_checks": [{"command": "test -s price"}]}}
    site.people.rest("PATCH", "/projects/shop", project)
    again = {"choices": [asked["options"][0]]}
    site.people.rest("POST", f"/questions/{asked['question_id']}/answer", again)
    site.until_status(task, "completed")
    site.until_idle()
    found = site.look(task)
    assert [(each["check"], each["outcome"]) for each in found["check_results"]] == [("test -s price", "passed")]
    events = site.people.rest("GET", "/events?limit=1000")["events"]
    assert [each["agent_id"] for each in events if each["kind"] == "launch.ordered"] == ["ann"]
    assert repository.git("show", f"toryo/{task}:price") == "1"

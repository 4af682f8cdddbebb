"""Pull requests at the server: what a merge orders in such a project, what a report changes, who is told, and when the
Coordinator looks again. Reports are those that a real Coordinator gives (tests/coordinator/test_pull_requests.py).
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_merge_queue import Queue
from tests.stories import Answer, World
from toryo.domain import worktrees
from toryo.domain.coordinators import GONE_AFTER
from toryo.domain.times import MINUTE, SECOND
from toryo.domain.worktrees import LOOK_EVERY, LOOK_SELDOM, LOST_AFTER, look_after

URL = "https://github.com/shop/till/pull/7"


class Shop(Queue):
    """A yard whose merges open pull requests."""

    def __init__(self, world: World) -> None:
        super().__init__(world, "off")
        self.set(pull_requests="open", required_checks=[])

    def pull_request(self, task: str, state: str = "open", **more: Any) -> dict[str, Any]:
        known = {"url": URL, "number": 7, "program": "gh", "host": "github.com", "repository": "shop/till"}
        return {**known, "branch": f"toryo/{task}", "base": "main", "head": "h1", "state": state, **more}

    def opened(self, task: str, **more: Any) -> str:
        """A person has ordered it, and the Coordinator has opened it."""
        job_id = self.ask("merge", task)
        (job,) = self.worktree_jobs()
        assert (job["job_id"], job["kind"]) == (job_id, "pull_request")
        self.report(job_id, done=True, pull_request=self.pull_request(task, **more))
        return job_id

    def looks(self, **more: Any) -> list[Answer]:
        """What the Coordinator is given to look at after the next round of housekeeping."""
        self.world.housekeep()
        found = self.worktree_jobs(**more)
        assert all(job["kind"] == "pull_request" and "look" in job["options"] for job in found)
        return found

    def after(self, millis: int) -> None:
        """Time passes, and the Coordinator goes on calling."""
        left = millis
        while left > 0:
            step = min(left, GONE_AFTER // 2)
            self.world.advance(step / SECOND)
            self.c1.claim(free_slots=0)
            left -= step

    def next_look(self, after: int = LOOK_EVERY) -> Answer:
        self.after(after)
        (job,) = self.looks()
        return job


@pytest.fixture
def shop(world: World) -> Shop:
    return Shop(world)


def test_a_merge_orders_a_pull_request_with_title_text_and_checks(shop: Shop):
    shop.set(required_checks=[{"command": "make test"}])
    task = shop.worked("w1", title="--force `prices`")
    shop.ask("merge", task, message="As discussed.")
    (job,) = shop.worktree_jobs()
    assert job["kind"] == "pull_request"
    given = job["options"]
    assert given["title"] == "--force `prices`"
    assert given["authors"] == ["w1"]
    assert [each["task_id"] for each in given["order"]] == [task]
    assert given["body"].startswith("As discussed.\n\ndone\n\n")
    assert f"Toryo task: {task}" in given["body"]


def test_the_text_names_the_parts_and_is_in_the_language_of_the_project(shop: Shop):
    main, part = shop.whole()
    shop.set(language="ja")
    shop.ask("merge", main)
    (job,) = shop.worktree_jobs()
    assert f"- Part ({part})" in job["options"]["body"]
    assert f"Toryo のタスク: {main}" in job["options"]["body"]


def test_an_open_pull_request_is_shown_and_its_work_waits_for_nobody(shop: Shop):
    task = shop.worked("w1")
    assert shop.needs("review")
    job_id = shop.opened(task)
    shown = {"url": URL, "number": 7, "state": "open"}
    work = shop.worktree(task)
    assert (work["state"], work["review"], work["pull_request"]) == ("open", "in_pull_request", shown)
    assert shop.world.owner.call("show_task", task_id=task)["task"]["pull_request"] == shown
    assert shop.job(job_id)["answer"]["pull_request"]["url"] == URL
    assert shop.needs("review") == []
    assert len(shop.world.events("worktree.pull_request_opened")) == 1


def test_it_is_looked_at_once_a_minute_while_it_is_open(shop: Shop):
    task = shop.worked("w1")
    job_id = shop.opened(task)
    assert shop.looks() == []
    job = shop.next_look()
    assert (job["job_id"], job["options"]["look"]) == (job_id, shop.pull_request(task, merged_commit=None))
    assert shop.looks(worktree_jobs=[job_id]) == [], "not twice at the same time"
    shop.report(job_id, done=True, pull_request=shop.pull_request(task))
    assert shop.looks() == []
    assert shop.next_look()["job_id"] == job_id
    assert len(shop.world.events("worktree.pull_request_opened")) == 1


def test_after_the_merge_the_work_is_merged_and_nobody_looks_any_longer(shop: Shop):
    main, part = shop.whole()
    job_id = shop.opened(main)
    shop.next_look()
    told = shop.pull_request(main, "merged", merged_commit="m1")
    shop.report(job_id, done=True, merged=shop.merged(part, main), pull_request=told)
    for each in (main, part):
        assert (shop.worktree(each)["state"], shop.worktree(each)["merged_into"]) == ("merged", "main")
    assert shop.worktree(main)["pull_request"]["state"] == "merged"
    shop.after(LOOK_EVERY)
    assert shop.looks() == []
    assert shop.needs("review") == []


def test_a_pull_request_that_was_closed_is_told_to_a_person_and_can_be_opened_again(shop: Shop):
    task = shop.worked("w1")
    job_id = shop.opened(task)
    shop.next_look()
    trouble = f"The pull request {URL} was closed without being merged."
    shop.report(job_id, done=False, trouble=trouble, task_id=task, pull_request=shop.pull_request(task, "closed"))
    assert (shop.worktree(task)["review"], shop.worktree(task)["pull_request"]["state"]) == ("to_review", "closed")
    (need,) = shop.needs("review")
    assert trouble in need["text"]
    assert f"toryo task merge {task}" in [each["command"] for each in need["actions"]]
    assert len(shop.world.events("worktree.pull_request_closed")) == 1
    shop.after(LOOK_EVERY)
    assert shop.looks() == []
    shop.opened(task, url=f"{URL}1", number=71)
    assert shop.worktree(task)["pull_request"] == {"url": f"{URL}1", "number": 71, "state": "open"}
    assert shop.worktree(task)["trouble"] is None
    assert shop.needs("review") == []


def test_what_prevents_it_is_told_to_a_person_and_the_work_stays(shop: Shop):
    task = shop.worked("w1")
    job_id = shop.ask("merge", task)
    shop.worktree_jobs()
    shop.report(job_id, done=False, trouble="gh is not on the PATH of the Coordinator.", task_id=task)
    assert shop.worktree(task)["state"] == "open"
    assert shop.worktree(task)["pull_request"] is None
    (need,) = shop.needs("review")
    assert "gh is not on the PATH" in need["text"]
    shop.opened(task)
    assert shop.needs("review") == []


def test_a_look_without_an_answer_is_repeated_and_told_once_after_about_a_quarter_of_an_hour(shop: Shop):
    task = shop.worked("w1")
    job_id = shop.opened(task)
    for minutes, told in ((1, 0), (2, 0), (4, 0), (8, 1), (16, 1)):
        assert shop.next_look(minutes * MINUTE)["job_id"] == job_id
        shop.report(job_id, done=False, trouble="gh failed: HTTP 502", task_id=task)
        assert len(shop.needs("review")) == told
    assert "HTTP 502" in shop.needs("review")[0]["text"]
    assert len(shop.world.events("worktree.hindered")) == 1
    assert shop.worktree(task)["pull_request"]["state"] == "open"
    shop.next_look(LOOK_SELDOM)
    shop.report(job_id, done=True, pull_request=shop.pull_request(task))
    assert shop.needs("review") == []


def test_a_service_that_refuses_is_asked_more_and_more_seldom_until_it_answers(shop: Shop):
    task = shop.worked("w1")
    job_id = shop.opened(task)
    for minutes in (1, 2, 4, 8, 16, 30, 30):
        shop.after(minutes * MINUTE - 10 * SECOND)
        assert shop.looks() == []
        shop.next_look(10 * SECOND)
        shop.report(job_id, done=False, trouble="gh failed: HTTP 403: rate limit exceeded", task_id=task)
    shop.next_look(LOOK_SELDOM)
    shop.report(job_id, done=True, pull_request=shop.pull_request(task))
    assert shop.next_look()["job_id"] == job_id


def test_what_is_open_counts_for_how_often_its_coordinator_looks(shop: Shop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worktrees, "LOOK_APART", MINUTE)
    shop.opened(shop.worked("w1"))
    shop.opened(shop.worked("w2"))
    shop.after(LOOK_EVERY)
    assert shop.looks() == []
    shop.after(LOOK_EVERY)
    assert len(shop.looks()) == 2


def test_many_open_pull_requests_are_looked_at_more_seldom():
    assert (look_after(1, 0), look_after(30, 0), look_after(90, 0)) == (MINUTE, MINUTE, 3 * MINUTE)
    assert (look_after(90, 1), look_after(90, 9), look_after(90, 10**6)) == (6 * MINUTE, LOOK_SELDOM, LOOK_SELDOM)
    assert look_after(1_800, 3) == 60 * MINUTE, "never more often than without failures"


def test_a_look_is_in_nobodys_way(shop: Shop):
    task = shop.worked("w1")
    shop.opened(task)
    shop.next_look()
    job_id = shop.ask("discard", task)
    shop.report(job_id, done=True, gone=[task])
    assert shop.worktree(task)["state"] == "discarded"
    shop.after(LOOK_EVERY)
    assert [job for job in shop.looks() if job["job_id"] == job_id] == []


def test_its_address_is_not_lost_while_its_coordinator_is_away(shop: Shop):
    task = shop.worked("w1")
    job_id = shop.opened(task)
    shop.next_look()
    shop.world.advance(LOST_AFTER / SECOND + 1)
    shop.world.housekeep()
    assert shop.worktree(task)["pull_request"] == {"url": URL, "number": 7, "state": "open"}
    assert shop.job(job_id)["answer"]["given_up"]
    assert shop.next_look()["job_id"] == job_id


def test_pull_requests_are_looked_at_after_the_setting_was_turned_off(shop: Shop):
    task = shop.worked("w1")
    shop.opened(task)
    shop.set(pull_requests="off")
    assert shop.next_look()["task_id"] == task


@pytest.mark.parametrize("url", ["http://github.com/x/y/pull/1", "javascript:alert(1)", "https://a b", ""])
def test_only_an_https_address_is_taken(shop: Shop, url: str):
    task = shop.worked("w1")
    job_id = shop.ask("merge", task)
    shop.worktree_jobs()
    told = shop.pull_request(task, url=url)
    shop.c1.refused("report_worktree_job", "validationError", job_id=job_id, done=True, pull_request=told)
    assert shop.worktree(task)["pull_request"] is None


def test_work_whose_changes_were_requested_opens_none_by_mistake(shop: Shop):
    task = shop.worked("w1")
    shop.world.owner.call("request_task_changes", task_id=task, text="Round up.")
    shop.world.owner.refused("merge_task", "notNow", task_id=task)


# --- what was found in a review --------------------------------------------------------------------------------------


def test_one_of_a_task_without_changes_of_its_own_is_looked_at_too(shop: Shop):
    main = shop.world.task("boss", title="All")
    part = shop.worked("w1", title="Part", parent_task_id=main)
    launch = shop.launch("boss")
    shop.completed(launch)
    none = {"commits": 0, "files_changed": 0, "insertions": 0, "deletions": 0, "head_commit": "c1"}
    shop.told(launch, **none)
    shop.c1.exited(launch["launch_id"], exit_code=0)
    shop.after(LOOK_EVERY)
    assert shop.worktree(main)["commits"] == 0
    job_id = shop.opened(main)
    assert shop.next_look()["job_id"] == job_id
    told = shop.pull_request(main, "merged", merged_commit="m1")
    shop.report(job_id, done=True, merged=shop.merged(part, main), pull_request=told)
    assert shop.worktree(part)["state"] == "merged"


def test_a_look_does_not_take_away_what_else_is_wrong_with_the_work(shop: Shop):
    task = shop.worked("w1")
    first = shop.opened(task)
    second = shop.ask("merge", task)
    shop.worktree_jobs()
    shop.report(second, done=False, trouble="toryo/t1 was not pushed.", task_id=task)
    shop.after(LOOK_EVERY)
    shop.looks()
    shop.report(first, done=True, pull_request=shop.pull_request(task))
    assert shop.worktree(task)["trouble"] == "toryo/t1 was not pushed."
    (need,) = shop.needs("review")
    assert "was not pushed" in need["text"]


def test_work_that_was_added_after_the_pull_request_is_to_be_reviewed(shop: Shop):
    task = shop.world.task("w1")
    shop.ended(shop.launch("w1"))
    shop.after(LOOK_EVERY)
    shop.opened(task)
    launch = shop.launch("w1")
    shop.completed(launch)
    shop.told(launch, head_commit="h2", commits=2, files_changed=2, insertions=3, deletions=0)
    shop.c1.exited(launch["launch_id"], exit_code=0)
    assert shop.worktree(task)["review"] == "to_review"
    shop.after(LOOK_EVERY)
    shop.opened(task)
    assert shop.worktree(task)["review"] == "in_pull_request"


def test_a_base_branch_that_was_not_updated_is_told_once_to_a_person_until_it_was(shop: Shop):
    task = shop.worked("w1")
    job_id = shop.opened(task)
    told, trouble = shop.pull_request(task, "merged", merged_commit="m1"), "main was not updated: …"
    for minutes in (1, 2):
        assert shop.next_look(minutes * MINUTE)["job_id"] == job_id
        shop.report(job_id, done=False, trouble=trouble, task_id=task, pull_request=told)
        (need,) = shop.needs("review")
        assert trouble in need["text"]
    assert len(shop.world.events("worktree.hindered")) == 1
    shop.next_look(4 * MINUTE)
    shop.report(job_id, done=True, merged=shop.merged(task), pull_request=told)
    assert shop.worktree(task)["state"] == "merged"
    assert shop.needs("review") == []


def test_what_else_is_to_know_about_a_merge_is_in_its_event(shop: Shop):
    task = shop.worked("w1")
    job_id = shop.opened(task)
    shop.next_look()
    told, note = shop.pull_request(task, "merged", base="release"), "main was not updated: merged into release."
    shop.report(job_id, done=True, merged=shop.merged(task), pull_request=told, answer={"message": note})
    (event,) = shop.world.events("worktree.merged")
    assert event["data"]["message"] == note


def test_nobody_looks_at_the_old_pull_request_of_work_that_was_started_again(shop: Shop):
    task = shop.world.task("w1")
    shop.ended(shop.launch("w1"))
    shop.after(LOOK_EVERY)
    shop.opened(task)
    job_id = shop.ask("discard", task)
    shop.worktree_jobs()
    shop.report(job_id, done=True, gone=[task])
    shop.ended(shop.launch("w1"))
    assert shop.worktree(task)["state"] == "open"
    shop.after(2 * LOOK_EVERY)
    assert shop.looks() == []


def test_nobody_looks_at_the_pull_request_of_work_that_went_on_at_another_coordinator(shop: Shop):
    task = shop.world.task("w1")
    shop.ended(shop.launch("w1"))
    shop.after(LOOK_EVERY)
    shop.opened(task)
    shop.world.advance(GONE_AFTER / SECOND + 1)
    shop.ended(shop.launch("w1", shop.world.coordinator("c2")))
    assert shop.worktree(task)["coordinator_id"] == "c2"
    shop.after(2 * LOOK_EVERY)
    assert shop.looks() == []


def test_one_of_a_task_without_files_is_found_by_it_and_by_all_tasks_whose_work_it_contains(shop: Shop):
    main = shop.world.task("boss", title="All")
    parts = [shop.worked("w1", title=f"Part {n}", parent_task_id=main) for n in range(2)]
    other = shop.worked("w2", title="Other")
    shop.world.owner.call("move_task", task_id=main, status="completed")
    shop.after(LOOK_EVERY)
    job_id = shop.ask("merge", main)
    (job,) = shop.worktree_jobs()
    shop.report(job_id, done=True, pull_request=shop.pull_request(job["task_id"]))
    shown = {"url": URL, "number": 7, "state": "open"}
    assert shop.world.owner.call("show_task", task_id=main)["task"]["pull_request"] == shown
    for part in parts:
        assert (shop.worktree(part)["review"], shop.worktree(part)["pull_request"]) == ("in_pull_request", shown)
    assert shop.worktree(other)["pull_request"] is None
    assert [each["task_id"] for each in shop.needs("review")] == [other]
    assert shop.next_look()["job_id"] == job_id, "one look for all of them"
    told = shop.pull_request(job["task_id"], "merged", merged_commit="m1")
    shop.report(job_id, done=True, merged=shop.merged(*parts), pull_request=told)
    assert [shop.worktree(part)["pull_request"]["state"] for part in parts] == ["merged", "merged"]
    assert shop.world.owner.call("show_task", task_id=main)["task"]["pull_request"]["state"] == "merged"


def closed(shop: Shop) -> tuple[str, str]:
    task = shop.worked("w1")
    job_id = shop.opened(task)
    shop.next_look()
    _report_closed(shop, job_id, task)
    return task, job_id


def _report_closed(shop: Shop, job_id: str, task: str) -> None:
    told = shop.pull_request(task, "closed")
    shop.report(job_id, done=False, trouble="It was closed.", task_id=task, pull_request=told)


def test_a_closed_pull_request_is_looked_at_seldom_and_told_once(shop: Shop):
    task, job_id = closed(shop)
    for _ in range(2):
        shop.after(LOOK_SELDOM - MINUTE)
        assert shop.looks() == []
        assert shop.next_look(MINUTE)["job_id"] == job_id
        _report_closed(shop, job_id, task)
    assert len(shop.world.events("worktree.hindered")) == 1
    assert len(shop.world.events("worktree.pull_request_closed")) == 1
    job_id = shop.ask("discard", task)
    shop.worktree_jobs()
    shop.report(job_id, done=True, gone=[task])
    shop.after(LOOK_SELDOM)
    assert shop.looks() == []


def test_a_pull_request_that_was_opened_again_is_open_again(shop: Shop):
    task, job_id = closed(shop)
    assert shop.needs("review")
    shop.next_look(LOOK_SELDOM)
    shop.report(job_id, done=True, pull_request=shop.pull_request(task))
    assert shop.worktree(task)["review"] == "in_pull_request"
    assert (shop.worktree(task)["trouble"], shop.needs("review")) == (None, [])
    assert len(shop.world.events("worktree.pull_request_opened")) == 2
    assert shop.next_look()["job_id"] == job_id


def test_a_pull_request_that_was_opened_again_and_merged_is_noticed(shop: Shop):
    task, job_id = closed(shop)
    shop.next_look(LOOK_SELDOM)
    told = shop.pull_request(task, "merged", merged_commit="m1")
    shop.report(job_id, done=True, merged=shop.merged(task), pull_request=told)
    assert shop.worktree(task)["state"] == "merged"
    assert shop.needs("review") == []


def test_a_look_at_a_closed_one_hides_nothing_else_that_is_wrong(shop: Shop):
    task, job_id = closed(shop)
    second = shop.ask("merge", task)
    shop.worktree_jobs()
    shop.report(second, done=False, trouble="toryo/t1 was not pushed.", task_id=task)
    shop.next_look(LOOK_SELDOM)
    _report_closed(shop, job_id, task)
    assert shop.worktree(task)["trouble"] == "toryo/t1 was not pushed."


def test_the_pull_request_of_a_whole_is_no_longer_looked_at_for_a_part_that_was_started_again(shop: Shop):
    main = shop.world.task("boss", title="All")
    parts = {agent: shop.world.task(agent, title=f"Part of {agent}", parent_task_id=main) for agent in ("w1", "w2")}
    for agent in parts:
        shop.ended(shop.launch(agent))
    shop.after(LOOK_EVERY)
    job_id = shop.ask("merge", main)
    (job,) = shop.worktree_jobs()
    told = shop.pull_request(job["task_id"], "merged", merged_commit="m1")
    shop.report(job_id, done=True, merged=shop.merged(*parts.values()), pull_request=told)
    again = next(agent for agent, part in parts.items() if part != job["task_id"])
    shop.ended(shop.launch(again))
    assert shop.worktree(parts[again])["state"] == "open"
    shop.after(2 * LOOK_EVERY)
    assert shop.looks() == []


def test_the_pull_request_with_requested_changes_names_the_one_that_it_replaces(shop: Shop):
    task = shop.worked("w1")
    shop.opened(task)
    asked = shop.world.owner.call("request_task_changes", task_id=task, text="Round up.")
    changes = asked["changes_requested"]["task_id"]
    shop.work("w1", changes)
    shop.after(LOOK_EVERY)
    job_id = shop.ask("merge", changes)
    (job,) = [each for each in shop.worktree_jobs() if each["job_id"] == job_id]
    assert f"It contains the work of these pull requests, which can be closed:\n\n- {URL}" in job["options"]["body"]

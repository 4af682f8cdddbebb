"""Every route, and who may go through it: agents through none, viewers change nothing, members stay in their projects.

The routes are those of the catalogue: one that is added tomorrow is walked tomorrow. Signing in itself stands in
`test_sign_in.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from tests.server.http import PLAIN, call
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.operations.calls.grants import Grant
from toryo.server import app
from toryo.server.app import Running
from toryo.server.dashboard_files import STATIC
from toryo.server.rest_answers import API
from toryo.settings import Settings

MARK = "Schatzkammer"
"""Stands in everything of the project that a member must not see."""
ROUTES = [each for each in catalogue().values() if each.route is not None]
IDS = {operation.name: operation for operation in ROUTES}


class TwoProjects:
    """A server with two projects: `open`, to which the member ann belongs, and `secret`, of which she must not know."""

    def __init__(self, running: Running, directory: Path) -> None:
        self.url = running.url
        self.dispatcher = running.app.dispatcher
        self.owner = (directory / "owner.token").read_text().strip()
        self.coordinator = (directory / "coordinator.token").read_text().strip()
        for project in ("open", "secret"):
            name = MARK if project == "secret" else "Open"
            self.ask("create_project", id=project, name=name, working_directory=f"/srv/{name}")
        self.passkey = self._agent("worker", "open")["passkey"]
        self._agent("hidden", "secret", name=MARK, system_prompt=MARK)
        self.ask("add_person", person_id="ann", login="member", projects=["open"])
        self.ask("add_person", person_id="vic", login="viewer")
        self.ann, self.vic = self._token("ann"), self._token("vic")
        self.task = self._task("open", "worker", "Plain")
        self.ids = self._secrets()

    def ask(self, name: str, bearer: str | None = None, /, **arguments: Any) -> dict[str, Any]:
        outcome = self.dispatcher.perform(name, arguments, Credentials(bearer=bearer or self.owner))
        assert not outcome.refused, outcome.result
        return outcome.result or {}

    def _agent(self, agent_id: str, project: str, **more: Any) -> dict[str, Any]:
        return self.ask("create_agent", id=agent_id, role="worker", provider="command", projects=[project], **more)

    def _task(self, project: str, assignee: str, title: str) -> str:
        asked = {"project_id": project, "title": title, "assignee_id": assignee, "status": "in_progress"}
        task_id: str = self.ask("file_task", **asked)["task_id"]
        return task_id

    def _token(self, person_id: str) -> str:
        token: str = self.ask("make_access_token", name="x", person_id=person_id)["token"]
        return token

    def _secrets(self) -> dict[str, str]:
        """Ids of the secret project, by the name of the parameter that takes them."""
        task = self._task("secret", "hidden", MARK)
        launch = self._launch("hidden")
        key = self.ask("make_api_key", project_id="secret", agent_id="own", name=MARK)["key"]["key_id"]
        correlation = self.ask("show_task", task_id=task)["task"]["correlation_id"]
        return {
            "project_id": "secret",
            "task_id": task,
            "agent_id": "hidden",
            "launch_id": launch["launch_id"],
            "key_id": key,
            "correlation_id": correlation,
        }

    def _launch(self, agent_id: str) -> dict[str, Any]:
        asked = {"coordinator_id": "c1", "agent_ids": [agent_id], "free_slots": 1, "running": []}
        (launch,) = self.ask("claim_starts", self.coordinator, **asked)["start"]
        return dict(launch)

    def credentials_of_agents(self) -> dict[str, str]:
        launch = self._launch("worker")
        key = self.ask("make_api_key", project_id="open", agent_id="queued")
        asked = {"agent_id": "worker", "passkey": self.passkey, "project_id": "open"}
        session = self.dispatcher.perform("authenticate", asked, Credentials()).result or {}
        return {
            "launch credential": launch["credential"],
            "session token": session["session_token"],
            "API key": key["token"],
            "Coordinator's token": self.coordinator,
        }


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoProjects]:
    directory = tmp_path_factory.mktemp("doors")
    with app.run_in_thread(Settings(port=0, data_dir=directory)) as running:
        yield TwoProjects(running, directory)


@pytest.fixture(scope="module")
def http(house: TwoProjects) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=house.url, timeout=100) as client:
        yield client


def send(http: httpx.Client, operation: Operation, bearer: str | None, **ids: str) -> httpx.Response:
    """The route with these ids in its path and query, and the least of a body that fits."""
    route = operation.route
    assert route is not None
    path = re.sub(r"\{(\w+)\}", lambda found: ids.get(found[1], "nothing"), route.path)
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    arguments = {name: ids[name] for name in operation.parameters.model_fields if name in ids}
    arguments = {name: value for name, value in arguments.items() if f"{{{name}}}" not in route.path}
    if route.method == "GET":
        return http.get(API + path, headers=headers, params=arguments)
    body = {**least(operation, route.path), **arguments}
    return http.request(route.method, API + path, headers=headers, json=body)


def least(operation: Operation, path: str) -> dict[str, Any]:
    """A value of the right kind for every parameter that must be given."""
    schema = operation.input_schema
    wanted = [each for each in schema.get("required", ()) if f"{{{each}}}" not in path]
    return {name: _value(name, schema["properties"][name]) for name in wanted}


def _value(name: str, schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][-1]
    kinds: dict[str, Any] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    if name == "working_directory":
        return "/srv/x"
    return kinds.get(schema.get("type", "string"), "in words, long enough")


# --- agents ----------------------------------------------------------------------------------------------------------


def test_no_credential_of_an_agent_opens_any_route_of_people(house: TwoProjects, http: httpx.Client) -> None:
    """F116, F117."""
    assert len(ROUTES) > 60
    opened = []
    for kind, credential in house.credentials_of_agents().items():
        for each in ROUTES:
            answer = send(http, each, credential, **house.ids)
            if answer.status_code != 401:
                opened.append((kind, each.name, answer.status_code))
        stream = http.get("/api/v1/events/stream", headers={"Authorization": f"Bearer {credential}"})
        assert stream.status_code == 401, kind
    assert opened == []


def test_without_any_credential_only_the_doors_themselves_answer(house: TwoProjects, http: httpx.Client) -> None:
    opened = {each.name for each in ROUTES if send(http, each, None, **house.ids).status_code != 401}
    assert opened == {"sign_in", "ways_to_sign_in"}
    assert http.get("/api/v1/events/stream").status_code == 401


def test_a_browsers_cookie_and_its_content_open_nothing_on_mcp(house: TwoProjects, http: httpx.Client) -> None:
    code = house.ask("make_sign_in_link")["code"]
    signed_in = http.post("/api/v1/sign-in", json={"code": code}, headers={"X-Toryo": "1"})
    page = signed_in.json()["page_secret"]
    ((name, token),) = signed_in.cookies.items()
    http.cookies.clear()
    for headers in (
        {"Cookie": f"{name}={token}", "X-Toryo": page},
        {"Authorization": f"Bearer {token}"},
        {"Authorization": f"Bearer {page}"},
    ):
        for tool in ("get_my_task", "get_next_action", "claim_starts"):
            answer = http.post("/mcp", content=call(tool), headers={**dict(PLAIN[1:]), **headers}).json()["result"]
            assert answer["isError"], (tool, headers)
            assert answer["structuredContent"]["success"] is False
        assert headers.get("Cookie") or http.get("/api/v1/me", headers=headers).status_code == 401


def test_a_persons_token_calls_no_tool_of_agents(house: TwoProjects, http: httpx.Client) -> None:
    headers = {**dict(PLAIN[1:]), "Authorization": f"Bearer {house.owner}"}
    for tool in ("get_my_task", "get_next_action", "create_task", "claim_starts", "report_completed"):
        answer = http.post("/mcp", content=call(tool), headers=headers).json()["result"]
        assert answer["isError"], tool


# --- viewers ---------------------------------------------------------------------------------------------------------

OWN_MATTERS = {
    "sign_in",
    "sign_out",
    "make_sign_in_link",
    "end_sign_in",
    "set_password",
    "make_access_token",
    "revoke_access_token",
    "dismiss_news",
    "get_push_key",
    "subscribe_browser",
    "unsubscribe_browser",
    "send_test_notification",
    "edit_notification_settings",
    "save_view",
    "edit_saved_view",
    "delete_saved_view",
}
"""What concerns nobody but the person, whatever their role."""
LOOKING = {"diff_task"}
"""Asks a Coordinator for what a viewer may see."""


def test_a_viewer_changes_nothing_but_their_own_matters(house: TwoProjects, http: httpx.Client) -> None:
    changing = [each for each in ROUTES if not each.reads and each.name not in OWN_MATTERS | LOOKING]
    passed = {each.name: send(http, each, house.vic, **house.ids).status_code for each in changing}
    refused = {each.name: 401 if each.grant in (Grant.FILER, Grant.QUEUE_AGENT) else 403 for each in changing}
    assert passed == refused  # 401: only an API key proves who may call it
    assert {each.name for each in ROUTES if each.route and each.route.method != "GET"} >= OWN_MATTERS | LOOKING


def test_even_in_their_own_matters_a_viewer_does_nothing_for_others(house: TwoProjects, http: httpx.Client) -> None:
    headers = {"Authorization": f"Bearer {house.vic}"}
    for method, path, body in (
        ("POST", "/sign-in-links", {"person_id": "ann"}),
        ("PUT", "/people/ann/password", {"password": "a few words in a row"}),
        ("POST", "/access-tokens", {"name": "x", "person_id": "ann"}),
        ("POST", "/access-tokens", {"name": "x", "login": "owner"}),
        ("GET", "/access-tokens?person_id=ann", None),
        (
            "POST",
            f"/projects/{house.ids['project_id']}/views",
            {"name": "x", "view": "board", "q": "x", "everybody": True},
        ),
    ):
        answer = http.request(method, API + path, headers=headers, json=body)
        assert answer.status_code == 403, (method, path, answer.text)


# --- members ---------------------------------------------------------------------------------------------------------


NAMING = [each for each in ROUTES if set(each.parameters.model_fields) & {
    "project_id", "task_id", "agent_id", "launch_id", "key_id", "correlation_id"}]  # fmt: skip


@pytest.mark.parametrize("operation", NAMING, ids=lambda each: each.name)
def test_what_is_in_another_project_is_to_a_member_as_if_it_were_not(
    house: TwoProjects, http: httpx.Client, operation: Operation
) -> None:
    """F118: the answer is the one for an id that nobody has, whichever of its ids is the foreign one."""
    assert len(NAMING) > 40
    named = [each for each in house.ids if each in operation.parameters.model_fields]
    mine = {"project_id": "open", "task_id": house.task, "agent_id": "worker"}
    for name in named:
        ids = {**mine, name: house.ids[name]}
        foreign, absent = (send(http, operation, house.ann, **{**ids, name: each}) for each in (ids[name], "absent"))
        assert MARK not in foreign.text, (operation.name, name)
        said = [(each.status_code, _known(each, ids[name], "absent")) for each in (foreign, absent)]
        assert said[0] == said[1], (operation.name, name)


def _known(answer: httpx.Response, *ids: str) -> Any:
    """The answer without the ids that were asked for, and what is another instant each time."""
    text = answer.text
    for each in ids:
        text = text.replace(each, "ID")
    found = orjson.loads(text)
    return {key: found.get(key) for key in ("code", "detail")} if answer.status_code >= 400 else "well"


def test_no_list_shows_a_member_anything_of_another_project(house: TwoProjects, http: httpx.Client) -> None:
    lists = [each for each in ROUTES if each.reads and each.route and "{" not in each.route.path]
    assert len(lists) > 12
    told = {each.name for each in lists if MARK in send(http, each, house.ann).text}
    assert told == set()
    assert any(MARK in send(http, each, house.owner).text for each in lists), "the owner sees it"


# --- other sites -----------------------------------------------------------------------------------------------------


FOREIGN = "https://evil.example"


def test_no_answer_lets_a_page_of_another_site_read_it(house: TwoProjects, http: httpx.Client) -> None:
    paths = ["/", "/health", "/mcp", "/api/v1/me", "/api/v1/openapi.json", "/api/v1/sign-in", "/api/v1/events/stream"]
    for path in paths:
        for method in ("GET", "POST", "OPTIONS"):
            asking = {"Origin": FOREIGN, "Access-Control-Request-Method": method}
            answer = http.request(method, path, headers=asking)
            assert answer.status_code == 403, (method, path)
            assert not [header for header in answer.headers if header.startswith("access-control")]
            own = http.request(method, path, headers={"Origin": house.url})
            assert not [header for header in own.headers if header.startswith("access-control")]


@pytest.mark.parametrize("path", ["/", "/sign-in", "/health", "/mcp", "/api/v1/me", "/api/v1/sign-in"])
def test_a_name_that_is_not_this_servers_and_an_origin_of_nobody_are_refused(http: httpx.Client, path: str) -> None:
    assert http.get(path, headers={"Host": "evil.example"}).status_code == 421
    for origin in ("null", FOREIGN, "http://evil.example:8765"):
        assert http.post(path, headers={"Origin": origin}).status_code == 403


def test_no_route_answers_a_foreign_name_another_site_or_a_browser_that_has_left(
    house: TwoProjects, http: httpx.Client
) -> None:
    """Every one of them: foreign Host and Origin, a cookie without its page, a token after its sign-out."""
    code = house.ask("make_sign_in_link")["code"]
    signed_in = http.post("/api/v1/sign-in", json={"code": code}, headers={"X-Toryo": "1"})
    ((name, token),) = signed_in.cookies.items()
    http.cookies.clear()
    browser, page = {"Cookie": f"{name}={token}"}, {"X-Toryo": signed_in.json()["page_secret"]}
    bearer = {"Authorization": f"Bearer {house.owner}"}
    closed = [each for each in ROUTES if each.name not in ("sign_in", "ways_to_sign_in")]

    def answers(headers: dict[str, str], only: list[Operation]) -> set[int]:
        found = set()
        for each in only:
            assert each.route is not None
            path = API + re.sub(r"\{\w+\}", "nothing", each.route.path)
            found.add(http.request(each.route.method, path, headers=headers).status_code)
        return found

    assert answers({**bearer, "Host": "evil.example"}, ROUTES) == {421}
    assert answers({**bearer, "Origin": FOREIGN}, ROUTES) == {403}
    assert answers(browser, closed) == {401}
    no_pages = ({"X-Toryo": "1"}, {"X-Toryo": ""}, {"X-Toryo": token}, {"Sec-Fetch-Site": "same-origin"})
    for number, nothing in enumerate(no_pages):
        assert answers({**browser, **nothing}, closed[number :: len(no_pages)]) == {401}
        for path in ("/events/stream", "/events"):
            streamed = {**browser, **nothing, "Accept": "text/event-stream"}
            assert http.get(API + path, headers=streamed).status_code == 401
    assert http.get(f"{API}/me", headers={**browser, **page}).status_code == 200
    assert http.post("/api/v1/sign-out", headers={**browser, **page}).status_code == 200
    assert answers({**browser, **page}, closed) == {401}


# --- pages -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/sign-in", "/projects/x/board"])
def test_every_page_says_that_it_runs_its_own_scripts_only(http: httpx.Client, path: str) -> None:
    answer = http.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy.get("script-src", "'none'") in ("'self'", "'none'")
    assert policy["frame-ancestors"] == "'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert inline_scripts(answer.text) == []


def test_no_page_that_is_built_has_a_script_within_it() -> None:
    found = {path.name: inline_scripts(path.read_text()) for path in STATIC.rglob("*.html")}
    assert not any(found.values()), found


def test_a_script_within_a_page_would_be_found() -> None:
    for bad in ("<script>x</script>", "<SCRIPT type=module>x</SCRIPT>", "<p onclick='x'>", '<a href="javascript:x">'):
        assert inline_scripts(f"<html>{bad}</html>"), bad
    assert not inline_scripts('<script type="module" crossorigin src="/a.js"></script><p>on click = fun</p>')


def inline_scripts(page: str) -> list[str]:
    tags = re.findall(r"<[^>]+>", page)
    scripts = [tag for tag in tags if re.match(r"<script\b(?![^>]*\bsrc=)", tag, re.IGNORECASE)]
    return scripts + [tag for tag in tags if re.search(r"\son\w+\s*=|[\"']?javascript:", tag, re.IGNORECASE)]

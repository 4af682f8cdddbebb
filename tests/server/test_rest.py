"""REST: routes from the catalogue, arguments from path, query, body and If-Match, refusals as problem details."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.server.fakes import FakeDispatcher, ObservedBus
from tests.server.http import Exchange, Response, edge, exchange, references
from toryo.operations.calls.catalogue import catalogue
from toryo.server.openapi import _hoisted, document

PERSON = (("host", "localhost"), ("authorization", "Bearer tpt_owner"))
SENDING = (*PERSON, ("content-type", "application/json"))


def ask(method: str, path: str, body: bytes = b"", headers: Any = None) -> Response:
    async def once() -> Response:
        async with edge() as app:
            given = headers or (SENDING if body else PERSON)
            return await exchange(app, body, method=method, target=f"/api/v1{path}", headers=given)

    return asyncio.run(once())


def problem(response: Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json"
    document = response.json()
    assert document["status"] == response.status
    assert document["title"]
    assert document["detail"]
    assert document["instruction"]
    return response.status, document["code"]


def test_path_query_and_body_become_one_set_of_arguments() -> None:
    response = ask("PATCH", "/things/t1?size=3", b'{"title":"new","tags":["a"]}')
    assert response.status == 200
    assert response.json() == {
        "success": True,
        "thing": {"thing_id": "t1", "title": "new", "tags": ["a"], "size": 3, "version": None},
    }


def test_a_route_says_its_status() -> None:
    assert ask("POST", "/things", b'{"thing_id":"t1"}').status == 201


def test_a_file_is_answered_as_its_bytes() -> None:
    response = ask("GET", "/things/t1/file")
    assert (response.status, response.body) == (200, b"what it says")
    assert response.headers["content-disposition"].startswith("attachment; ")


@pytest.mark.parametrize(("query", "tags"), [("tags=a", ["a"]), ("tags=a&tags=b", ["a", "b"]), ("", None)])
def test_lists_in_a_query_repeat_their_name(query: str, tags: list[str] | None) -> None:
    response = ask("GET", f"/things?limit=5&{query}")
    assert (response.json()["limit"], response.json()["tags"]) == (5, tags)


def test_an_encoded_slash_stays_inside_its_parameter() -> None:
    assert ask("GET", "/things/a%2Fb%20c").json()["thing"]["thing_id"] == "a/b c"


def test_a_path_of_plain_words_wins_over_a_parameter() -> None:
    assert ask("GET", "/things/special").json() == {"success": True, "status": "ok"}


@pytest.mark.parametrize("given", ['"3"', 'W/"3"', "3"])
def test_if_match_fills_the_version(given: str) -> None:
    response = ask("PATCH", "/things/t1", b"{}", (*SENDING, ("if-match", given)))
    assert response.json()["thing"]["version"] == 3


def test_if_match_means_nothing_where_there_are_no_versions() -> None:
    assert ask("GET", "/things", headers=(*PERSON, ("if-match", '"3"'))).status == 200


def test_if_match_that_is_no_version_is_refused() -> None:
    assert problem(ask("PATCH", "/things/t1", b"{}", (*SENDING, ("if-match", '"abc"')))) == (422, "validationError")


def test_a_refusal_keeps_its_code_instruction_and_details() -> None:
    response = ask("GET", "/things/missing")
    assert problem(response) == (404, "taskNotFound")
    assert response.json()["thing_id"] == "missing"
    assert problem(ask("PATCH", "/things/t1", b'{"version":1}')) == (409, "conflict")


MISTAKES: dict[str, tuple[str, str, bytes, int, str]] = {
    "a parameter that does not exist": ("GET", "/things?colour=red", b"", 422, "validationError"),
    "a value that is no number": ("GET", "/things?limit=many", b"", 422, "validationError"),
    "a value out of range": ("GET", "/things?limit=0", b"", 422, "validationError"),
    "no JSON": ("POST", "/things", b"{", 422, "validationError"),
    "no object": ("POST", "/things", b"[]", 422, "validationError"),
    "something missing": ("POST", "/things", b"{}", 422, "validationError"),
    "a contradiction": ("PATCH", "/things/t1", b'{"thing_id":"t2"}', 422, "validationError"),
    "a session token": ("POST", "/things", b'{"thing_id":"t","session_token":"tst_x"}', 422, "validationError"),
    "an unknown path": ("GET", "/nothing", b"", 404, "notFound"),
    "a method the path does not have": ("PUT", "/things/t1", b"{}", 405, "methodNotAllowed"),
    "too much": ("POST", "/things", b'{"thing_id":"' + b"x" * 2_000_000 + b'"}', 413, "tooLarge"),
}


@pytest.mark.parametrize(("method", "path", "body", "status", "code"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_problems(method: str, path: str, body: bytes, status: int, code: str) -> None:
    assert problem(ask(method, path, body)) == (status, code)


def test_of_a_long_path_that_does_not_exist_the_beginning_is_quoted() -> None:
    detail = ask("GET", "/" + "x" * 400).json()["detail"]
    assert detail == f"There is no page or resource at /api/v1/{'x' * 192}."


def test_a_method_that_is_not_there_names_those_that_are() -> None:
    assert ask("PUT", "/things/t1", b"{}").headers["allow"] == "GET, HEAD, PATCH"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
def test_where_there_is_nothing_no_method_is_offered(method: str) -> None:
    async def once(target: str) -> Response:
        async with edge() as app:
            return await exchange(app, method=method, target=target, headers=PERSON)

    for target in ("/nonsense", "/register", "/api/v1/nonsense", "/health/"):
        response = asyncio.run(once(target))
        assert problem(response) == (404, "notFound"), target
    assert problem(asyncio.run(once("/health"))) == (405, "methodNotAllowed")
    assert problem(asyncio.run(once("/"))) == (405, "methodNotAllowed")


def test_a_body_that_is_not_declared_as_json_is_refused() -> None:
    assert problem(ask("POST", "/things", b'{"thing_id":"t"}', PERSON)) == (422, "validationError")


@pytest.mark.parametrize("token", ["tst_session", "tlc_launch", "tct_coordinator", "anything", ""])
@pytest.mark.parametrize("path", ["/things", "/public"])
def test_no_credential_but_a_persons_opens_rest(token: str, path: str) -> None:
    headers = (PERSON[0], ("authorization", f"Bearer {token}"))
    if not token and path == "/public":
        return  # nobody may read what is open
    response = ask("GET", path, headers=headers)
    assert problem(response) == (401, "authenticationRequired")
    assert response.headers["www-authenticate"].startswith("Bearer")


def test_what_is_open_needs_no_credential() -> None:
    assert ask("GET", "/public", headers=PERSON[:1]).status == 200


@pytest.mark.pitfall("F30")
def test_a_long_poll_answers_when_it_is_hinted() -> None:
    async def story() -> None:
        dispatcher, bus = FakeDispatcher(), ObservedBus()
        async with edge(dispatcher, bus) as app:
            client = Exchange(app, method="GET", target="/api/v1/things?wait_seconds=40", headers=PERSON)
            held = asyncio.create_task(client.run())
            await bus.until(lambda topics: "bell:things" in topics)
            dispatcher.rung.add("things")
            bus.publish(("bell:things",))
            assert (await held).status == 200

    asyncio.run(story())


def test_the_document_says_what_a_search_cannot_do_without() -> None:
    written = document([catalogue()["search_tasks"]], "", "/events")["paths"]["/task-search"]["get"]["parameters"]
    assert [each["name"] for each in written if each.get("required")] == ["text"]


def test_what_has_several_meanings_in_the_document_is_numbered() -> None:
    shared: dict[str, Any] = {}
    for kind in ("string", "integer", "boolean", "string"):
        _hoisted({"$defs": {"Size": {"type": kind}}, "$ref": "#/$defs/Size"}, shared)
    assert {name: each["type"] for name, each in shared.items()} == {
        "Size": "string",
        "Size2": "integer",
        "Size3": "boolean",
    }


def test_the_document_describes_every_route_with_references_that_resolve() -> None:
    document = ask("GET", "/openapi.json", headers=PERSON[:1]).json()
    assert document["openapi"] == "3.1.0"
    edited = document["paths"]["/api/v1/things/{thing_id}"]["patch"]
    assert edited["operationId"] == "edit_thing"
    assert [parameter["name"] for parameter in edited["parameters"]] == ["thing_id", "If-Match"]
    body = edited["requestBody"]["content"]["application/json"]["schema"]
    assert set(body["properties"]) == {"title", "tags", "size", "version"}
    made = document["paths"]["/api/v1/things"]["post"]
    assert [parameter["name"] for parameter in made["parameters"]] == ["Idempotency-Key", "If-Match"]
    listed = document["paths"]["/api/v1/things"]["get"]["parameters"]
    assert {each["name"]: each["in"] for each in listed} == {"tags": "query", "limit": "query", "wait_seconds": "query"}
    for reference in references(document):
        node = document
        for step in reference.removeprefix("#/").split("/"):
            node = node[step]

"""REST, by whatever its own OpenAPI document allows and forbids: never an internal error, never an answer that breaks
what the document promises, and the server is as well as before.

Requests are made by schemathesis from the document, with real ids in half of their paths, so that they reach the rules.
`TORYO_TEST_EXAMPLES` says how many there are for each operation and mode.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis.generation import GenerationMode

from tests.server.http import PLAIN, call
from tests.stories import closed
from toryo.server import app
from toryo.server.app import Running
from toryo.settings import Settings

EXAMPLES = int(os.environ.get("TORYO_TEST_EXAMPLES", "5"))
LEFT_OUT = frozenset({"follow_events", "rotate_server_token", "revoke_server_token"})
"""The first never ends (`test_live.py` is about it); the others take the credential of this test itself away."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path_factory.mktemp("fuzz"))) as running:
        yield running


def _token(server: Running, name: str) -> str:
    directory = server.app.settings.data_dir
    assert directory is not None
    return (directory / f"{name}.token").read_text().strip()


@pytest.fixture(scope="module")
def people(server: Running) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {_token(server, 'owner')}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=100) as http:
        yield http


@pytest.fixture(scope="module")
def ids(server: Running, people: httpx.Client) -> dict[str, list[str]]:
    """What there is, by the names that paths give it."""

    def post(path: str, **body: Any) -> dict[str, Any]:
        response = people.post(f"/api/v1{path}", json=body)
        assert response.status_code < 300, response.text
        answer: dict[str, Any] = response.json()
        return answer

    project = post("/projects", name="P", working_directory="/srv/p")["project_id"]
    post("/agents", id="boss", role="manager", provider="claude", projects=[project])
    post("/agents", id="w1", role="worker", provider="claude", reports_to="boss", projects=[project])
    post("/agents", id="ann", role="worker", kind="human", projects=[project])
    tasks = [
        post(f"/projects/{project}/tasks", title=f"T{each}", assignee_id="w1", status=each)["task_id"]
        for each in ("in_progress", "todo", "backlog")
    ]
    post(f"/projects/{project}/chats/w1/messages", content="Hello")
    key = post(f"/projects/{project}/keys")["key"]["key_id"]
    launches = _started(server)
    return {
        "project_id": [project],
        "agent_id": ["boss", "w1", "ann"],
        "task_id": tasks,
        "key_id": [key],
        "launch_id": launches,
        "person_id": ["ann"],
        "correlation_id": tasks,
    }


def _started(server: Running) -> list[str]:
    headers = {**dict(PLAIN[1:]), "Authorization": f"Bearer {_token(server, 'coordinator')}"}
    asked = call("claim_starts", {"coordinator_id": "c1", "free_slots": 5, "free_chat_slots": 5})
    answer = httpx.post(f"{server.url}/mcp", content=asked, headers=headers).json()["result"]["structuredContent"]
    found = [each["launch_id"] for each in answer["start"]]
    assert found
    return found


@pytest.fixture(scope="module")
def document(people: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = people.get("/api/v1/openapi.json").json()
    return found


class Promise:
    """What the document says about answers."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._shared = {"components": document["components"]}
        self._paths = document["paths"]

    def broken(self, path: str, method: str, response: httpx.Response) -> str | None:
        """How an answer breaks it; None: it does not."""
        if response.status_code >= 500:
            return f"{response.status_code}: {response.text[:300]}"
        answers = self._paths[path][method]["responses"]
        known = answers.get(str(response.status_code), answers["default"])
        media = response.headers.get("content-type", "").split(";")[0]
        if media not in known["content"]:
            return f"{response.status_code} is {media}, not {list(known['content'])}"
        promised = {**self._shared, **known["content"][media]["schema"]}
        wanted = Draft202012Validator(closed(promised) if response.is_success else promised)
        problems = [error.message for error in wanted.iter_errors(orjson.loads(response.content))]
        return f"{response.status_code}: {problems[0][:300]}" if problems else None


@pytest.mark.deep
def test_whatever_is_sent_the_answer_is_as_promised_and_no_internal_error(
    people: httpx.Client, ids: dict[str, list[str]], document: dict[str, Any]
) -> None:
    promise, broken, sent = Promise(document), [], {"refused": 0, "done": 0}
    schema = schemathesis.openapi.from_dict(document)
    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        if operation.definition.raw["operationId"] in LEFT_OUT:
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            for path, method, response in _answers(people, operation, mode, ids):
                sent["done" if response.status_code < 300 else "refused"] += 1
                if (how := promise.broken(path, method, response)) is not None:
                    broken.append(f"{method} {response.request.url} {response.request.content[:200]!r}: {how}")
    assert not broken, "\n".join(broken[:20])
    assert sent["done"] > 50 < sent["refused"], sent
    assert people.get("/api/v1/me").status_code == 200
    assert people.get("/health").json()["status"] == "ok"


def _answers(
    people: httpx.Client, operation: Any, mode: GenerationMode, ids: dict[str, list[str]]
) -> list[tuple[str, str, httpx.Response]]:
    answers = []

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), place=st.integers(0, 5))
    def send(case: Any, place: int) -> None:
        for name in case.path_parameters or {}:
            if place % 2 and name in ids:
                case.path_parameters[name] = ids[name][place % len(ids[name])]
        if isinstance(case.query, dict) and "wait_seconds" in case.query:
            case.query["wait_seconds"] = 0
        asked = case.as_transport_kwargs(base_url=str(people.base_url))
        asked = {key: value for key, value in asked.items() if key in ("method", "url", "params", "json", "data")}
        content = asked.pop("data", None)
        headers = {name: value for name, value in (case.headers or {}).items() if _sendable(name, value)}
        try:
            request = people.build_request(**asked, content=content, headers={**headers, **_declared(case)})
        except (ValueError, TypeError, httpx.InvalidURL):
            return  # what no client can send
        answers.append((operation.path, operation.method.lower(), people.send(request)))

    try:
        send()
    except schemathesis.errors.InvalidSchema:
        raise
    except Exception as error:
        if "Unsatisfiable" not in type(error).__name__:
            raise
    return answers


def _sendable(name: str, value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable() and name.lower() != "authorization"


def _declared(case: Any) -> dict[str, str]:
    return {"content-type": "application/json"} if case.media_type else {}

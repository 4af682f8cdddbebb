"""Questions of `ask_person` that a person is shown in their own MCP client, with a real server and the official client:
the answer is that person's, whoever is first counts, and without an answer everything is as without such a client.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import mcp_types as types
import orjson
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from toryo.client import Client as People
from toryo.server import mcp_elicitation
from toryo.server.app import Running
from toryo.server.mcp_elicitation import Elicitation, answer_of, can_ask, form

LIMIT = 100.0
COLORS = ["Blue", "Red", "Green"]
Asked = Callable[[types.ElicitRequestFormParams], Awaitable[types.ElicitResult | types.ErrorData]]


def callback(asked: Asked | None) -> Any:
    """As the official client takes it."""
    return None if asked is None else lambda _context, params: asked(params)


class House:
    """A server with a task in progress of `ben`, whose passkey a person uses in their own client."""

    def __init__(self, server: Running) -> None:
        directory = server.app.settings.data_dir
        assert directory is not None
        self.url = server.url
        self.owner_token = (directory / "owner.token").read_text().strip()
        self.owner = People(server.url, self.owner_token)
        made = self.owner.rest("POST", "/projects", {"name": "House", "working_directory": "/srv/house"})
        self.project = made["project_id"]
        agent = {"id": "ben", "role": "worker", "projects": [self.project]}
        self.passkey = self.owner.rest("POST", "/agents", agent)["passkey"]
        self.session_token = ""
        task = {"title": "Paint", "assignee_id": "ben", "status": "in_progress"}
        self.owner.rest("POST", f"/projects/{self.project}/tasks", task)

    def person(self, name: str, login: str = "member") -> str:
        self.owner.rest("POST", "/people", {"person_id": name, "login": login, "projects": [self.project]})
        return str(self.owner.rest("POST", "/access-tokens", {"name": "its", "person_id": name})["token"])

    def questions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.owner.rest("GET", f"/projects/{self.project}/questions")["questions"]
        return found

    def ask(
        self, asked: Asked | None, bearer: str | None = None, mode: str = "legacy", **question: Any
    ) -> dict[str, Any]:
        """What `ask_person` answers ben, in the client of the person with this token."""

        async def story() -> dict[str, Any]:
            headers = {"Authorization": f"Bearer {bearer or self.owner_token}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=LIMIT) as http,
                Client(
                    streamable_http_client(f"{self.url}/mcp", http_client=http),
                    mode=mode,
                    elicitation_callback=callback(asked),
                ) as client,
            ):
                if not self.session_token:
                    who = {"agent_id": "ben", "passkey": self.passkey}
                    signed_in = await client.call_tool("authenticate", who)
                    self.session_token = signed_in.structured_content["session_token"]
                given = {"question": "Which color?", "session_token": self.session_token, **question}
                answer = await client.call_tool("ask_person", given)
                found: dict[str, Any] = answer.structured_content
                return found

        return asyncio.run(asyncio.wait_for(story(), LIMIT))


@pytest.fixture
def house(server: Running) -> House:
    return House(server)


def accepting(seen: list[types.ElicitRequestFormParams], **content: Any) -> Asked:
    async def asked(params: types.ElicitRequestFormParams) -> types.ElicitResult:
        seen.append(params)
        return types.ElicitResult(action="accept", content=content)

    return asked


def test_what_the_person_answers_in_the_client_is_their_answer_and_the_agent_goes_on_at_once(house: House) -> None:
    seen: list[types.ElicitRequestFormParams] = []
    ann = house.person("ann")
    found = house.ask(accepting(seen, choice="Red"), ann, options=COLORS, free_text=False)
    assert found["answered_before"]["answer"] == "Red"
    assert found["message"].startswith("A person has answered")
    assert found["next"]["action"] != "wait_for_answer"
    [question] = house.questions()
    assert (question["state"], question["choices"], question["ended_by"]) == ("answered", ["Red"], "ann")
    assert seen[0].message == "Which color?"
    assert seen[0].requested_schema["properties"]["choice"]["enum"] == COLORS


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_who_does_not_answer_there_is_asked_as_always(house: House, action: Any) -> None:
    async def asked(_: types.ElicitRequestFormParams) -> types.ElicitResult:
        return types.ElicitResult(action=action)

    found = house.ask(asked, options=COLORS)
    [question] = house.questions()
    assert (question["state"], found["question_id"]) == ("open", question["question_id"])
    assert found["message"].startswith("Asked.")


@pytest.mark.first(3)
@pytest.mark.filterwarnings("ignore:Pydantic serializer")
@pytest.mark.parametrize(
    "content",
    [
        {},
        {"choice": "Purple"},
        {"choice": ["Blue"]},
        {"choices": [{"a": 1}]},
        {"choices": ["Blue", "Red"]},
        {"text": "Like the sea"},
        {"text": 7},
        {"choice_0": "yes"},
    ],
)
def test_what_is_no_answer_to_the_question_answers_nothing(house: House, content: dict[str, Any]) -> None:
    house.ask(raw({"action": "accept", "content": content}), options=COLORS, free_text=False)
    assert [each["state"] for each in house.questions()] == ["open"]


def test_who_answers_nothing_that_fits_is_told_so_and_asked_again(house: House) -> None:
    seen: list[str] = []

    async def asked(params: types.ElicitRequestFormParams) -> types.ElicitResult:
        seen.append(params.message)
        return types.ElicitResult(action="accept", content={"choice": "Red"} if len(seen) == 2 else {})

    assert house.ask(asked, options=COLORS)["answered_before"]["answer"] == "Red"
    assert seen[0] == "Which color?"
    assert seen[1].startswith("The answer is empty. Choose one of")
    assert seen[1].endswith("\n\nWhich color?")


def test_who_never_answers_anything_that_fits_is_not_asked_for_ever(house: House) -> None:
    seen: list[types.ElicitRequestFormParams] = []
    assert house.ask(accepting(seen), options=COLORS)["message"].startswith("Asked.")
    assert len(seen) == mcp_elicitation.MOST_TIMES


def raw(result: dict[str, Any]) -> Asked:
    async def asked(_: types.ElicitRequestFormParams) -> types.ElicitResult:
        return types.ElicitResult.model_construct(**result)

    return asked


def test_an_error_of_the_client_leaves_the_question_open(house: House) -> None:
    async def asked(_: types.ElicitRequestFormParams) -> types.ErrorData:
        return types.ErrorData(code=-32603, message="The window was closed.")

    assert house.ask(asked)["message"].startswith("Asked.")
    assert [each["state"] for each in house.questions()] == ["open"]


def test_an_answer_from_elsewhere_that_is_first_counts(house: House) -> None:
    async def asked(_: types.ElicitRequestFormParams) -> types.ElicitResult:
        [question] = house.questions()
        path = f"/questions/{question['question_id']}/answer"
        await asyncio.to_thread(house.owner.rest, "POST", path, {"text": "Blue as the sky"})
        return types.ElicitResult(action="accept", content={"text": "Red as a rose"})

    found = house.ask(asked, house.person("ann"))
    assert found["answered_before"]["answer"] == "Blue as the sky"
    assert [(each["text"], each["ended_by"]) for each in house.questions()] == [("Blue as the sky", "owner")]


def test_a_question_that_is_answered_elsewhere_ends_the_wait_without_the_client(house: House) -> None:
    cancelled = asyncio.Event()

    async def asked(_: types.ElicitRequestFormParams) -> types.ElicitResult:
        [question] = house.questions()
        path = f"/questions/{question['question_id']}/answer"
        try:  # around the answer, too: the wait may end before its sender hears that it was taken
            await asyncio.to_thread(house.owner.rest, "POST", path, {"text": "Blue"})
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()
        raise AssertionError

    assert house.ask(asked)["answered_before"]["answer"] == "Blue"
    assert cancelled.is_set()


def test_a_question_that_is_withdrawn_meanwhile_is_not_asked_again(house: House) -> None:
    async def asked(_: types.ElicitRequestFormParams) -> types.ElicitResult:
        [question] = house.questions()
        path = f"/questions/{question['question_id']}/withdraw"
        await asyncio.to_thread(house.owner.rest, "POST", path, {"reason": "It does not matter."})
        return types.ElicitResult(action="accept", content={"text": "Blue"})

    assert house.ask(asked)["message"].startswith("Asked.")
    assert [each["state"] for each in house.questions()] == ["withdrawn"]


def test_who_takes_too_long_finds_the_question_open(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_elicitation, "LONGEST_WAIT_SECONDS", 0.1)

    async def asked(_: types.ElicitRequestFormParams) -> types.ElicitResult:
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    assert house.ask(asked)["message"].startswith("Asked.")
    assert [each["state"] for each in house.questions()] == ["open"]


def never(seen: list[Any]) -> Asked:
    return accepting(seen, text="Blue", choice="Blue")


def test_only_who_may_answer_is_asked(house: House) -> None:
    seen: list[Any] = []
    house.person("ann")
    house.ask(never(seen), house.person("vic", "viewer"))
    house.ask(never(seen), question="And the door?", to="ann")
    assert seen == []
    assert [each["state"] for each in house.questions()] == ["open", "open"]


def test_a_client_without_the_capability_or_without_a_handshake_is_answered_at_once(house: House) -> None:
    seen: list[Any] = []
    assert house.ask(None)["message"].startswith("Asked.")
    assert house.ask(never(seen), mode="2026-07-28", question="And the door?")["message"].startswith("Asked.")
    assert seen == []


def test_what_was_answered_before_is_not_asked_in_the_client(house: House) -> None:
    seen: list[Any] = []
    house.ask(accepting(seen, text="Blue"))
    assert house.ask(accepting(seen, text="Red"))["answered_before"]["answer"] == "Blue"
    assert len(seen) == 1
    assert house.ask(accepting(seen, text="Red"), ask_again=True)["answered_before"]["answer"] == "Red"
    assert sorted(each["text"] for each in house.questions()) == ["Blue", "Red"]


# --- the transport ---------------------------------------------------------------------------------------------------


class Raw:
    """A client of the era with a handshake, message by message."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.http = httpx2.AsyncClient(timeout=LIMIT)
        self.headers = {
            "accept": "application/json, text/event-stream",
            "authorization": f"Bearer {house.owner_token}",
            "mcp-protocol-version": "2025-11-25",
        }

    async def begin(self) -> None:
        capabilities: dict[str, Any] = {"elicitation": {"form": {}}}
        about = {"protocolVersion": "2025-11-25", "clientInfo": {"name": "raw", "version": "1"}}
        began = await self.post("initialize", {**about, "capabilities": capabilities})
        self.headers["mcp-session-id"] = began.headers["mcp-session-id"]
        who = {"agent_id": "ben", "passkey": self.house.passkey}
        answer = await self.post("tools/call", {"name": "authenticate", "arguments": who})
        self.token = answer.json()["result"]["structuredContent"]["session_token"]

    async def post(self, method: str, params: dict[str, Any]) -> httpx2.Response:
        return await self.http.post(self.url, json=message(method, params), headers=self.headers)

    async def reply(self, request_id: str, **headers: str) -> int:
        result = {"action": "accept", "content": {"text": "Blue"}}
        answer = {"jsonrpc": "2.0", "id": request_id, "result": result}
        response = await self.http.post(self.url, json=answer, headers={**self.headers, **headers})
        return int(response.status_code)

    @property
    def url(self) -> str:
        return f"{self.house.url}/mcp"

    def asking(self, **meta: str) -> Any:
        """The answer to `ask_person`, as a stream."""
        arguments = {"question": "Which color?", "session_token": self.token}
        more = {"_meta": meta} if meta else {}
        call = message("tools/call", {"name": "ask_person", "arguments": arguments, **more})
        return self.http.stream("POST", self.url, json=call, headers=self.headers)


def message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def event(lines: Any) -> dict[str, Any]:
    """The next message of a stream."""
    async for line in lines:
        if line.startswith("data: "):
            found: dict[str, Any] = orjson.loads(line.removeprefix("data: "))
            return found
    raise AssertionError("the stream has ended")


def run(story: Awaitable[None]) -> None:
    async def within() -> None:
        await asyncio.wait_for(story, LIMIT)

    asyncio.run(within())


def test_only_the_client_that_was_asked_is_heard(house: House) -> None:
    async def story() -> None:
        client = Raw(house)
        await client.begin()
        stranger = house.person("eve")
        async with client.asking() as stream:
            lines = stream.aiter_lines()
            asked = await event(lines)
            assert (asked["method"], asked["params"]["message"]) == ("elicitation/create", "Which color?")
            await client.reply(asked["id"], authorization=f"Bearer {stranger}")
            await client.reply(asked["id"], **{"mcp-session-id": "another"})
            await client.reply("ask-another")
            assert [each["state"] for each in house.questions()] == ["open"]
            assert await client.reply(asked["id"]) == 202
            answer = await event(lines)
        assert answer["result"]["structuredContent"]["answered_before"]["answer"] == "Blue"
        assert await client.reply(asked["id"]) == 202
        await client.http.aclose()

    run(story())
    assert [each["text"] for each in house.questions()] == ["Blue"]


def test_a_connection_that_is_lost_leaves_the_question_open_and_nothing_behind(server: Running, house: House) -> None:
    [streams] = [server.app.edge._mcp.streams]

    async def story() -> None:
        client = Raw(house)
        await client.begin()
        async with client.asking() as stream:
            asked = await event(stream.aiter_lines())
            [session] = streams._sessions.values()
            [reply] = session.asked.values()
            loop = reply.get_loop()
        while session.asked:  # on the server's loop: each turn there is a step of what ends
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop))
        assert await client.reply(asked["id"]) == 202
        await client.http.aclose()

    run(story())
    assert [each["state"] for each in house.questions()] == ["open"]


def test_what_happens_in_the_project_is_not_told_to_a_client_that_waits(house: House) -> None:
    async def story() -> None:
        client = Raw(house)
        await client.begin()
        path = f"/projects/{house.project}/tasks"
        async with client.asking(progressToken="p") as stream:
            lines = stream.aiter_lines()
            asked = await event(lines)
            for number in range(5):
                await asyncio.to_thread(house.owner.rest, "POST", path, {"title": f"Task {number}"})
            await client.reply(asked["id"])
            assert "result" in await event(lines)
        await client.http.aclose()

    run(story())


def test_a_question_that_waits_is_not_looked_at_again_and_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    look = Elicitation._question

    async def counted(*given: Any) -> Any:
        nonlocal looks
        looks += 1
        return await look(*given)

    monkeypatch.setattr(Elicitation, "_question", counted)

    async def story() -> None:
        client = Raw(house)
        await client.begin()
        async with client.asking() as stream:
            lines = stream.aiter_lines()
            asked = await event(lines)
            for _ in range(10):  # others are served meanwhile
                await asyncio.to_thread(house.owner.rest, "GET", "/me")
            await client.reply(asked["id"])
            assert "result" in await event(lines)
        await client.http.aclose()

    run(story())
    assert looks < 8


def test_it_passes_through_the_bridge_for_clients_that_start_commands(house: House) -> None:
    seen: list[types.ElicitRequestFormParams] = []

    async def story() -> None:
        environment = {"TORYO_SERVER_URL": house.url, "TORYO_TOKEN": house.owner_token}
        command = StdioServerParameters(command=sys.executable, args=["-m", "toryo", "mcp"], env=environment)
        asked = callback(accepting(seen, text="Blue"))
        async with Client(stdio_client(command), mode="legacy", elicitation_callback=asked) as ben:
            signed_in = await ben.call_tool("authenticate", {"agent_id": "ben", "passkey": house.passkey})
            token = signed_in.structured_content["session_token"]
            answer = await ben.call_tool("ask_person", {"question": "Which color?", "session_token": token})
            assert answer.structured_content["answered_before"]["answer"] == "Blue"

    run(story())
    assert len(seen) == 1


# --- the form --------------------------------------------------------------------------------------------------------


def shown(**more: Any) -> dict[str, Any]:
    return {"question": "Which?", "options": COLORS, "multiple": False, "free_text": True, **more}


@pytest.mark.parametrize(
    ("question", "lists", "names", "required"),
    [
        (shown(options=[]), True, ["text"], ["text"]),
        (shown(), True, ["choice", "text"], []),
        (shown(free_text=False), True, ["choice"], ["choice"]),
        (shown(multiple=True, free_text=False), True, ["choices"], ["choices"]),
        (shown(multiple=True), False, ["choice_0", "choice_1", "choice_2", "text"], []),
    ],
)
def test_a_form_has_a_field_for_every_kind_of_answer(
    question: dict[str, Any], lists: bool, names: list[str], required: list[str]
) -> None:
    params = form(question, lists=lists)
    types.ElicitRequestFormParams.model_validate(params)
    schema = params["requestedSchema"]
    assert (list(schema["properties"]), schema["required"]) == (names, required)


@pytest.mark.parametrize(
    ("content", "given"),
    [
        ({"choice": "Red", "text": " "}, {"choices": ["Red"], "text": None}),
        ({"choice": "", "text": "Pink"}, {"choices": [], "text": "Pink"}),
        ({"choices": ["Red", "Blue"]}, {"choices": ["Red", "Blue"], "text": None}),
        ({"choice_0": True, "choice_1": False, "choice_2": True}, {"choices": ["Blue", "Green"], "text": None}),
    ],
)
def test_an_answer_is_read_from_every_form(content: dict[str, Any], given: dict[str, Any]) -> None:
    assert answer_of(shown(), {"result": {"action": "accept", "content": content}}) == given


@pytest.mark.parametrize(
    "said", [{}, {"error": {}}, {"result": []}, {"result": {"action": "accept"}}, {"result": {"action": "decline"}}]
)
def test_everything_else_is_no_answer(said: dict[str, Any]) -> None:
    assert answer_of(shown(), said) is None


@pytest.mark.parametrize(
    ("capabilities", "can"),
    [
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
        ({"elicitation": True}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_client_says_in_its_handshake_whether_it_can_ask(capabilities: Any, can: bool) -> None:
    assert can_ask({"params": {"capabilities": capabilities}}) is can
    assert not can_ask({"params": [capabilities]})

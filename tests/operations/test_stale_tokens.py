"""A token that is not good any more keeps nobody from signing in anew, from leaving, or from asking for help."""

from __future__ import annotations

import pytest

from tests.stories import Caller, World

UNKNOWN = "tst_" + "0" * 48
WAYS = ("argument", "header")


def shown(crew: World, token: str, way: str) -> Caller:
    """Somebody who shows this token as an argument or on the connection."""
    return Caller(crew, token) if way == "header" else Caller(crew, None, token)


def ended(crew: World) -> str:
    """The token of a session that is over, while there is work again."""
    crew.task("w1")
    over = crew.start("w1")
    token: str = over.signed_in["session_token"]
    over.report()
    crew.task("w1", title="More")
    return token


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stale", ["unknown", "ended"])
def test_the_right_passkey_signs_in_whatever_token_is_shown_besides(crew: World, way: str, stale: str) -> None:
    token = ended(crew) if stale == "ended" else UNKNOWN
    if stale == "unknown":
        crew.task("w1")
    agent = shown(crew, token, way)
    signed_in = agent.call("authenticate", agent_id="w1", passkey=crew.passkeys["w1"])
    again = Caller(crew, None, signed_in["session_token"])
    assert again.call("get_next_action")["action"] == "report_model"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stale", ["unknown", "ended"])
def test_a_wrong_passkey_is_refused_whatever_token_is_shown_besides(crew: World, way: str, stale: str) -> None:
    token = ended(crew) if stale == "ended" else UNKNOWN
    refusal = shown(crew, token, way).refused("authenticate", "invalidCredentials", agent_id="w1", passkey="pk_no")
    assert refusal["action"] == "exit"
    assert crew.sessions() == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["logout", "help", "health_check"])
def test_leaving_and_asking_for_help_need_no_good_token(crew: World, way: str, name: str) -> None:
    assert shown(crew, UNKNOWN, way).call(name)["success"]
    assert shown(crew, ended(crew), way).call(name)["success"]


def test_leaving_without_any_token_succeeds(crew: World) -> None:
    assert crew.nobody.call("logout")["success"]


@pytest.mark.parametrize("way", WAYS)
def test_elsewhere_an_unknown_token_is_told_the_call_that_works(crew: World, way: str) -> None:
    crew.task("w1")
    agent = shown(crew, UNKNOWN, way)
    refusal = agent.refused("get_next_action", "sessionTokenInvalid")
    assert "authenticate(agent_id, passkey) without session_token" in refusal["instruction"]
    assert "exit" not in refusal["instruction"]


def test_beside_a_good_credential_an_unknown_token_is_told_to_be_left_out(crew: World) -> None:
    crew.task("w1")
    worker = crew.start("w1")
    confused = Caller(crew, worker.bearer, UNKNOWN)
    refusal = confused.refused("get_next_action", "sessionTokenInvalid")
    assert refusal["instruction"].startswith("Omit session_token")
    assert worker.next()["success"]


def test_a_session_that_is_over_and_shows_no_passkey_is_told_to_end(crew: World) -> None:
    refusal = shown(crew, ended(crew), "argument").refused("authenticate", "sessionExpired")
    assert (refusal["action"], refusal["error"]) == ("exit", "This launch is over")


def test_who_finds_no_work_is_told_why(crew: World) -> None:
    refusal = crew.nobody.refused("authenticate", "notNow", agent_id="w1", passkey=crew.passkeys["w1"])
    assert refusal["error"] == "No work for this agent now"
    assert refusal["message"] == "No work for w1 now. It has no task in progress."

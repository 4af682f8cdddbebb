"""Signing in with an identity provider, over real HTTP with real signatures; and everything that must not sign in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from tests.server.identity_provider import CLIENT, SECRET, Provider, key
from toryo.operations.calls.callers import Credentials
from toryo.operations.people import provider_accounts
from toryo.server import app, identity_provider
from toryo.server.app import Running
from toryo.server.identity_provider import judged
from toryo.settings import AuthSettings, Settings

Claims = dict[str, Any]


@pytest.fixture
def idp() -> Iterator[Provider]:
    with Provider() as running:
        yield running


Serve = Callable[..., Running]


@pytest.fixture
def serve(idp: Provider, tmp_path: Path) -> Iterator[Serve]:
    """Starts a server whose people sign in with the provider."""
    started: list[Running] = []

    def begin(*, metrics: bool = False, **more: Any) -> Running:
        auth = AuthSettings(oidc_issuer=idp.issuer, oidc_client_id=CLIENT, oidc_client_secret=SECRET, **more)
        started.append(app.run_in_thread(Settings(port=0, data_dir=tmp_path, auth=auth, metrics=metrics)))
        return started[-1]

    yield begin
    for each in started:
        each.close()


def leave(server: Running) -> tuple[httpx.Client, str]:
    """A browser on its way to the provider, and the address it was sent to."""
    browser = httpx.Client(base_url=server.url, timeout=100, headers={"X-Toryo": "1"})
    return browser, leave_with(browser)["address"]


def leave_with(browser: httpx.Client, address: str = "/sign-in/oidc") -> dict[str, Any]:
    """As the page does it: it keeps `page` for its origin."""
    sent = browser.post(address)
    assert sent.status_code == 200, sent.text
    told: dict[str, Any] = sent.json()
    KEPT[id(browser)] = told["page"]
    return told


KEPT: dict[int, str] = {}


def come_in(server: Running, idp: Provider) -> tuple[httpx.Client, httpx.Response]:
    browser, address = leave(server)
    answer = browser.get(idp.agree(address))
    if answer.status_code == 303:
        arrive(browser, answer)
    return browser, answer


def arrive(browser: httpx.Client, answer: httpx.Response, **more: str) -> httpx.Response:
    """The page signs in with what the way back has brought, and with what it has kept."""
    code = answer.headers["location"].removeprefix("/sign-in#provider.")
    arrived = browser.post("/api/v1/sign-in", json={"code": f"{KEPT[id(browser)]}.{code}", **more})
    if arrived.is_success:
        browser.headers["X-Toryo"] = arrived.json()["page_secret"]
    return arrived


def add(server: Running, **person: Any) -> None:
    owner = (server.app.directory.path / "owner.token").read_text().strip()
    outcome = server.app.dispatcher.perform("add_person", person, Credentials(bearer=owner))
    assert not outcome.refused, outcome.result


def me(browser: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = browser.get("/api/v1/me").json()
    return found


def refused(answer: httpx.Response, *words: str) -> None:
    assert answer.status_code in (401, 403), answer.text
    assert not [each for each in answer.headers.get_list("set-cookie") if each.startswith("toryo-") and "tbs_" in each]
    assert "content-security-policy" in answer.headers
    for word in words:
        assert word in answer.text


def test_whom_the_provider_vouches_for_comes_in_as_a_person_of_this_server(serve: Serve, idp: Provider) -> None:
    server = serve(oidc_default_role="member")
    browser, answer = come_in(server, idp)
    assert answer.headers["location"].startswith("/sign-in#provider.")
    assert (me(browser)["person_id"], me(browser)["login"], me(browser)["signed_in_by"]) == ("ann", "member", "oidc")
    again, _ = come_in(server, idp)
    assert me(again)["person_id"] == "ann", "the same person the next time"
    assert browser.get("/api/v1/sign-in").json()["provider"] == idp.issuer.removeprefix("http://")


def test_somebody_new_does_not_come_in_where_owners_add_people_first(serve: Serve, idp: Provider) -> None:
    server = serve()
    _, answer = come_in(server, idp)
    refused(answer, "is not allowed to sign in here", "toryo person add")
    add(server, person_id="anna", login="viewer", email="Ann@Example.org")
    browser, _ = come_in(server, idp)
    assert (me(browser)["person_id"], me(browser)["login"]) == ("anna", "viewer")
    idp.claims = {"sub": "u-2", "email": "ann@example.org"}
    _, answer = come_in(server, idp)
    refused(answer, "is not allowed to sign in here")


def test_an_address_that_is_not_verified_makes_nobody_somebody_else(serve: Serve, idp: Provider) -> None:
    server = serve()
    add(server, person_id="anna", login="owner", email="ann@example.org")
    idp.claims["email_verified"] = False
    _, answer = come_in(server, idp)
    refused(answer)


def test_a_name_like_somebody_elses_makes_nobody_somebody_else(serve: Serve, idp: Provider) -> None:
    idp.claims = {"sub": "u-9", "email": "owner@example.org"}
    browser, _ = come_in(serve(oidc_default_role="viewer"), idp)
    assert (me(browser)["person_id"], me(browser)["login"]) == ("owner-2", "viewer")


def test_the_provider_may_give_the_roles_and_take_them_again(serve: Serve, idp: Provider) -> None:
    server = serve(oidc_role_claim="realm.roles", oidc_roles={"staff": "member", "chief": "owner"})
    idp.claims["realm"] = {"roles": ["staff", "chief", "x"]}
    browser, _ = come_in(server, idp)
    assert me(browser)["login"] == "owner"
    idp.claims["realm"] = {"roles": ["staff"]}
    come_in(server, idp)
    assert me(browser)["login"] == "member", "in the other browser, too"


@pytest.mark.parametrize(
    ("told", "name"),
    [({}, None), ({"name": ""}, None), ({"preferred_username": "ann"}, "ann"), ({"name": "Ann"}, "Ann")],
)
def test_somebody_is_called_as_the_provider_says_and_by_no_name_where_it_says_none(
    told: Claims, name: str | None
) -> None:
    assert judged({"iss": "https://id.example", "sub": "u-1", **told}, AuthSettings()).name == name


def test_what_the_provider_says_of_somebody_is_judged_like_any_strangers_words(serve: Serve, idp: Provider) -> None:
    server = serve(oidc_default_role="member")
    usual: Claims = {**idp.claims}
    hostile = {"name": ["A\u202eevil", "A\x1b[31mB", "A\x00B", "A\nB"], "sub": ["a\x00", "x" * 1001]}
    for claim, values in {**hostile, "email": ["a\nb@example.org"]}.items():
        for value in values:
            idp.claims = {**usual, claim: value}
            _, answer = come_in(server, idp)
            refused(answer, "returned an invalid value")


def test_only_a_get_leaves_for_the_provider_and_signs_the_browser_out(serve: Serve, idp: Provider) -> None:
    browser, _ = come_in(serve(oidc_default_role="member"), idp)
    for path, allowed in (("/sign-in/oidc", "POST"), ("/sign-in/oidc/callback?state=x&code=y", "GET")):
        answer = browser.head(path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert me(browser)["person_id"] == "ann"


def test_signing_in_with_a_provider_is_counted_and_refusals_are_logged(serve: Serve, idp: Provider) -> None:
    server = serve(metrics=True)
    come_in(server, idp)
    add(server, person_id="anna", login="viewer", email="Ann@Example.org")
    come_in(server, idp)
    measured = httpx.get(f"{server.url}/metrics").text
    assert 'toryo_events_total{kind="person.signed_in"} 1' in measured
    assert 'operation="arrive",outcome="ok"' in measured
    assert 'operation="arrive",outcome="permissionDenied"' in measured
    server.close()
    kept = (server.app.directory.path / "logs" / "server.log").read_text()
    assert "sign_in_refused" in kept
    assert "permissionDenied" in kept


def test_a_fault_of_the_server_while_somebody_signs_in_is_a_page_that_says_what_to_do(
    serve: Serve, idp: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(oidc_default_role="member")

    def fail(*_: object) -> None:
        raise RuntimeError("planted")

    browser, address = leave(server)
    monkeypatch.setattr(provider_accounts, "known_account", fail)
    answer = browser.get(idp.agree(address))
    assert answer.status_code == 503
    assert "content-security-policy" in answer.headers
    assert "Try again" in answer.text
    assert "planted" not in answer.text


def test_only_verified_addresses_of_these_domains_come_in(serve: Serve, idp: Provider) -> None:
    server = serve(oidc_default_role="member", oidc_email_domains=("example.com",))
    for claims in ({"email": "ann@example.org"}, {"email": "ann@example.com", "email_verified": False}, {}):
        idp.claims = {"sub": "u-1", **claims}
        refused(come_in(server, idp)[1], "verified e-mail address at example.com")
    idp.claims = {"sub": "u-1", "email": "ann@EXAMPLE.com"}
    assert come_in(server, idp)[1].status_code == 303


def test_the_way_back_opens_once_and_to_the_browser_that_left(serve: Serve, idp: Provider) -> None:
    server = serve(oidc_default_role="member")
    browser, address = leave(server)
    back = idp.agree(address)
    with httpx.Client(base_url=server.url) as other:
        refused(other.get(back), "another browser")
        other.post("/sign-in/oidc", headers={"X-Toryo": "1"})
        refused(other.get(back), "another browser")
    secret = browser.cookies["toryo-leaving"]
    assert browser.get(back).status_code == 303
    again = {"Cookie": f"toryo-leaving={secret}"}
    refused(httpx.get(idp.agree(address), headers=again), "works once")
    assert len(idp.asked) == 1


def test_a_code_for_another_verifier_is_worth_nothing(serve: Serve, idp: Provider) -> None:
    """Whoever puts their own code into somebody else's way back gets nothing for it (PKCE)."""
    server = serve(oidc_default_role="member")
    thief, victim = leave(server), leave(server)
    code = idp.agree(thief[1]).partition("code=")[2].partition("&")[0]
    back = idp.agree(victim[1])
    refused(victim[0].get(back.replace("code-1", code)), "invalid_grant")


def wrong(**claims: Any) -> Callable[[Provider], Callable[[Claims], str]]:
    return lambda idp: lambda said: idp.signed({**said, **claims})


def without(name: str) -> Callable[[Provider], Callable[[Claims], str]]:
    return lambda idp: lambda said: idp.signed({key: value for key, value in said.items() if key != name})


HOUR_AGO = int(time.time()) - 3600
SHARES = 4  # each is told to a server of its own
FORGERIES: dict[str, Callable[[Provider], Callable[[Claims], str]]] = {
    "for another sign-in": wrong(nonce="x"),
    "without a nonce": without("nonce"),
    "for another program": wrong(aud="another"),
    "for several, made for another": wrong(aud=[CLIENT, "another"], azp="another"),
    "for several, made for nobody": wrong(aud=[CLIENT, "another"]),
    "from another issuer": wrong(iss="https://evil.example"),
    "that is over": wrong(iat=HOUR_AGO, exp=HOUR_AGO + 300),
    "that never ends": without("exp"),
    "of nobody": without("sub"),
    "of the future": wrong(iat=int(time.time()) + 100_000, exp=int(time.time()) + 200_000),
    "that is not signed": lambda idp: lambda said: jwt.encode(said, "", "none", headers={"kid": idp.kid}),
    "signed with the client's secret": lambda idp: lambda said: jwt.encode(said, SECRET * 3, "HS256", {"kid": idp.kid}),
    "signed by somebody else": lambda idp: lambda said: jwt.encode(said, key(), "RS256", {"kid": idp.kid}),
    "signed with a key nobody knows": lambda idp: lambda said: idp.signed(said, kid="two"),
    "signed with a key that is not for signing": lambda idp: lambda said: idp.signed(said, kid="for secrets"),
    "changed afterwards": lambda idp: (
        lambda said: ".".join(
            [
                idp.signed(said).split(".")[0],
                idp.signed({**said, "sub": "root"}).split(".")[1],
                idp.signed(said).split(".")[2],
            ]
        )
    ),
    "that is none": lambda _: lambda _said: "no token",
}


@pytest.mark.parametrize("share", range(SHARES))
def test_a_token_that_is_wrong_signs_nobody_in(serve: Serve, idp: Provider, share: int) -> None:
    server = serve(oidc_default_role="owner")
    for how in [*FORGERIES][share::SHARES]:
        idp.sign = FORGERIES[how](idp)
        browser, answer = come_in(server, idp)
        refused(answer)
        assert browser.get("/api/v1/me").status_code == 401, how
        people = server.app.dispatcher.perform("list_people", {}, Credentials(bearer=owner_token(server))).result or {}
        assert [person["person_id"] for person in people["people"]] == ["owner"], how


def owner_token(server: Running) -> str:
    return (server.app.directory.path / "owner.token").read_text().strip()


def test_a_new_key_of_the_provider_is_found(serve: Serve, idp: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity_provider, "LOOKS_AGAIN_AFTER", 0.0)
    server = serve(oidc_default_role="member")
    come_in(server, idp)
    idp.published, idp.kid = key(), "two"
    assert come_in(server, idp)[1].status_code == 303


def test_a_key_that_the_provider_has_withdrawn_is_believed_no_longer(
    serve: Serve, idp: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the new one has the same name."""
    server = serve(oidc_default_role="member")
    assert come_in(server, idp)[1].status_code == 303
    monkeypatch.setattr(identity_provider, "KEYS_LIVE", 0.0)
    old, idp.published = idp.published, key()
    idp.sign = lambda claims: jwt.encode(claims, old, "RS256", {"kid": idp.kid})
    assert come_in(server, idp)[1].status_code == 401
    idp.sign = None
    assert come_in(server, idp)[1].status_code == 303


def test_who_does_not_agree_or_whose_provider_is_away_is_told_so(serve: Serve, idp: Provider) -> None:
    server = serve()
    browser, address = leave(server)
    state = idp.agree(address).partition("state=")[2]
    refused(browser.get(f"/sign-in/oidc/callback?error=access_denied%3Cb%3E&state={state}"), "access_denied&lt;b&gt;")
    assert browser.post("/sign-in/oidc/callback").status_code == 405


def test_neither_codes_nor_tokens_stand_in_the_log(serve: Serve, idp: Provider) -> None:
    server = serve(oidc_default_role="member")
    browser, address = leave(server)
    secret = browser.cookies["toryo-leaving"]
    back = idp.agree(address)
    arrived = browser.get(back)
    code = arrived.headers["location"].partition("provider.")[2]
    arrive(browser, arrived)
    token = next(value for name, value in browser.cookies.items() if name != "toryo-leaving")
    server.close()
    kept = (server.app.directory.path / "logs" / "server.log").read_text()
    assert "vouched_for" in kept
    by_page = (KEPT[id(browser)], browser.headers["X-Toryo"])
    for each in (secret, token, code, *by_page, back.partition("state=")[2], SECRET):
        assert each not in kept


# --- the page that left ----------------------------------------------------------------------------------------------


def test_only_the_page_that_has_left_signs_in_with_what_comes_back(serve: Serve, idp: Provider) -> None:
    """Whoever leads a browser here with their own answer of the provider, and sets its cookie, signs nobody in."""
    server = serve(oidc_default_role="member")
    browser, _ = come_in(server, idp)
    idp.claims = {"sub": "u-evil", "email": "evil@example.org"}
    theirs, address = leave(server)
    planted = httpx.Client(base_url=server.url, cookies=dict(browser.cookies), headers={"X-Toryo": "1"})
    planted.cookies.set("toryo-leaving", theirs.cookies["toryo-leaving"])
    answer = planted.get(idp.agree(address))
    assert answer.status_code == 303
    assert not [each for each in answer.headers.get_list("set-cookie") if not each.startswith("toryo-leaving")]
    code = answer.headers["location"].removeprefix("/sign-in#provider.")
    for tried in (code, f".{code}", f"{KEPT[id(browser)]}.{code}"):
        assert planted.post("/api/v1/sign-in", json={"code": tried}).status_code == 401, tried
    assert me(browser)["person_id"] == "ann"


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"X-Toryo": "1"}, 405),
        ("POST", {}, 403),
        ("POST", {"X-Toryo": "1", "Origin": "https://evil.example"}, 403),
    ],
)
def test_no_picture_form_or_other_site_begins_a_sign_in(
    serve: Serve, idp: Provider, method: str, headers: dict[str, str], status: int
) -> None:
    browser, _ = come_in(serve(oidc_default_role="member"), idp)
    page = browser.headers["X-Toryo"]
    del browser.headers["X-Toryo"]
    answer = browser.request(method, "/sign-in/oidc", headers=headers)
    assert (answer.status_code, answer.headers.get_list("set-cookie")) == (status, [])
    browser.headers["X-Toryo"] = page
    assert me(browser)["person_id"] == "ann"


def test_leaving_ends_no_sign_in_and_coming_back_as_somebody_else_asks(serve: Serve, idp: Provider) -> None:
    browser, _ = come_in(serve(oidc_default_role="member"), idp)
    idp.claims = {"sub": "u-2", "email": "bob@example.org"}
    address = leave_with(browser)["address"]
    assert me(browser)["person_id"] == "ann"
    answer = browser.get(idp.agree(address))
    asked = arrive(browser, answer)
    assert (asked.status_code, asked.json()["instead_of"]["person_id"]) == (409, "ann")
    assert me(browser)["person_id"] == "ann"
    assert arrive(browser, answer, instead_of="ann").status_code == 200
    assert me(browser)["person_id"] == "bob"


def test_who_proves_again_with_the_provider_must_have_signed_in_there_just_now(serve: Serve, idp: Provider) -> None:
    idp.claims["auth_time"] = int(time.time()) - 3600
    browser, _ = come_in(serve(oidc_default_role="owner"), idp)
    token = {"name": "ci"}
    assert browser.post("/api/v1/access-tokens", json=token).json()["code"] == "proofRequired"
    for claimed in (None, int(time.time()) - 3600, "now"):
        idp.claims["auth_time"] = claimed
        address = leave_with(browser, "/sign-in/oidc?again=true")["address"]
        assert "prompt=login&max_age=0" in address
        refused(browser.get(idp.agree(address)), "auth_time")
    assert browser.post("/api/v1/access-tokens", json=token).status_code == 403
    idp.claims["auth_time"] = int(time.time())
    answer = browser.get(idp.agree(leave_with(browser, "/sign-in/oidc?again=true")["address"]))
    assert arrive(browser, answer).status_code == 200
    assert browser.post("/api/v1/access-tokens", json=token).status_code == 201


@pytest.mark.parametrize(
    "wrong",
    [
        {"oidc_issuer": "http://id.example", "oidc_client_id": "x"},
        {"oidc_issuer": "https://id.example"},
        {"oidc_client_id": "x"},
        {"oidc_roles": {"x": "owner"}},
    ],
)
def test_settings_that_cannot_work_or_are_not_safe_are_refused(wrong: Claims) -> None:
    with pytest.raises(ValueError, match="oidc"):
        AuthSettings(**wrong)

"""Signing a browser in over HTTP: the cookie and what guards it, other sites, proxies, and how often one may knock."""

from __future__ import annotations

import ast
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.rate_limits import BURST, EVERY_SECONDS, Pace
from toryo.server import app, request_credentials
from toryo.server.app import Running
from toryo.server.dashboard_files import Pages
from toryo.server.trusted_proxies import Proxies
from toryo.settings import Settings

PAGE = {"X-Toryo": "1"}
"""What every page of this server sends while nobody is signed in."""
PASSWORD = "a few words in a row"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path, trusted_proxies=("127.0.0.2",))) as running:
        yield running


def owner(server: Running) -> str:
    return (server.app.directory.path / "owner.token").read_text().strip()


def ask(server: Running, name: str, **arguments: Any) -> dict[str, Any]:
    outcome = server.app.dispatcher.perform(name, arguments, Credentials(bearer=owner(server)))
    assert not outcome.refused, outcome.result
    return outcome.result or {}


def sign_in(server: Running, **how: Any) -> tuple[httpx.Client, httpx.Response]:
    """A browser with a page of this server, and how it was let in."""
    browser = httpx.Client(base_url=server.url, timeout=100, headers={**PAGE, **how.pop("headers", {})}, **how)
    return browser, enter(browser, code=ask(server, "make_sign_in_link")["code"])


def enter(browser: httpx.Client, **how: Any) -> httpx.Response:
    """As the page does it: it keeps the secret that it is given."""
    answer = browser.post("/api/v1/sign-in", json=how)
    if answer.is_success:
        browser.headers["X-Toryo"] = answer.json()["page_secret"]
    return answer


def cookie(answer: httpx.Response) -> dict[str, str]:
    """The parts of the one cookie that was set."""
    (header,) = answer.headers.get_list("set-cookie")
    name_and_value, *rest = header.split("; ")
    name, _, value = name_and_value.partition("=")
    return {"name": name, "value": value, **dict(each.partition("=")[::2] for each in rest)}


# --- the cookie ------------------------------------------------------------------------------------------------------


def test_of_what_a_browser_says_it_is_the_beginning_is_kept() -> None:
    found = request_credentials.credentials({b"user-agent": b"a" * 5_000}, {})
    assert found.browser == "a" * 300


def test_no_script_reads_the_cookie_and_no_other_site_sends_it(server: Running) -> None:
    _, answer = sign_in(server)
    set_ = cookie(answer)
    assert {"HttpOnly", "Path", "SameSite", "Max-Age"} <= set(set_)
    assert (set_["SameSite"], set_["Path"], set_["Max-Age"]) == ("strict", "/", str(14 * 86_400))
    assert "Secure" not in set_, "this was plain http, on this machine"
    assert "browser_token" not in answer.json()
    assert set_["value"] not in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_the_first_cookie_of_exactly_this_name_counts(server: Running) -> None:
    """Neither a name that only looks like it, nor an empty one beside it, nor quotes change who is signed in."""
    browser, answer = sign_in(server)
    good, page = cookie(answer), browser.headers["X-Toryo"].encode()
    name, value = good["name"], good["value"]

    def seen(said: bytes) -> int:
        return httpx.get(f"{server.url}/api/v1/me", headers={b"Cookie": said, b"X-Toryo": page}).status_code

    mine = f"{name}={value}".encode()
    assert seen(mine) == seen(mine + b"; " + name.encode() + b"=") == seen(b"a=b; " + mine) == 200
    assert seen(mine + f"; {name}=another".encode()) == 200
    for wrong in (b"\xa0" + mine, b"\x85" + mine, f'{name}="{value}"'.encode(), b"x" + mine):
        assert seen(wrong) == 401, wrong


def test_no_cookie_is_read_by_the_parser_that_takes_seconds_for_some() -> None:
    """`http.cookies` is quadratic on older Pythons: one request of a stranger would hold up everybody."""
    for path in Path(request_credentials.__file__).parent.glob("*.py"):
        assert not re.search(r"request\.cookies|http\.cookies|SimpleCookie", _code(path)), path


def _code(path: Path) -> str:
    """Without docstrings and comments."""
    return ast.unparse(ast.parse(re.sub(r'"""(?:.|\n)*?"""', '"""x"""', path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("scheme", "host"), [("http", "x:²"), ("https", "x:"), ("https", "é"), ("http", "")])
def test_whatever_host_is_named_a_browser_is_signed_in_by_a_cookie_that_fits_the_scheme(scheme: str, host: str) -> None:
    headers = [(b"host", host.encode("latin-1"))]
    request = Request({"type": "http", "method": "GET", "path": "/", "scheme": scheme, "headers": headers})
    response = Response()
    request_credentials.keep_signed_in(response, request, "tbs_x")
    given = response.headers["set-cookie"]
    assert given.startswith("__Host-toryo=" if scheme == "https" else "toryo=")
    assert ("; Secure" in given) is (scheme == "https")


def test_a_file_of_the_dashboard_is_found_by_its_encoded_name(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("page")
    (tmp_path / "a b@é.js").write_text("script")
    request = Request({"type": "http", "method": "GET", "path": "/a%20b%40%C3%A9.js", "headers": []})
    assert Pages(tmp_path).answer(request).body == b"script"


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization", "Content-Type", "X-Toryo"])
def test_a_header_that_means_one_thing_is_sent_once(server: Running, name: str) -> None:
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=100) as connection:
        host = "" if name == "Host" else f"Host: {address.netloc}\r\n"
        twice = f"{name}: {address.netloc}\r\n" + f"{name}: {address.netloc}\r\n"
        connection.sendall(f"GET /health HTTP/1.1\r\n{host}{twice}Connection: close\r\n\r\n".encode())
        answer = connection.makefile("rb").readline()
    assert answer.split()[1] in (b"400", b"403"), answer


def test_two_servers_of_one_machine_do_not_sign_one_anothers_people_out(server: Running) -> None:
    assert cookie(sign_in(server)[1])["name"] == f"toryo-{server.url.rpartition(':')[2]}"


def test_every_sign_in_gives_another_cookie_whatever_was_there_before(server: Running) -> None:
    first = cookie(sign_in(server)[1])
    planted = {"Cookie": f"{first['name']}={first['value']}"}
    second = cookie(sign_in(server, headers=planted)[1])
    assert second["value"] != first["value"]
    stale = {"Cookie": f"{first['name']}=tbs_planted"}
    assert cookie(sign_in(server, headers=stale)[1])["value"] != "tbs_planted"


def test_after_signing_out_the_old_cookie_opens_nothing(server: Running) -> None:
    browser, answer = sign_in(server)
    old = cookie(answer)
    out = browser.post("/api/v1/sign-out")
    assert out.json()["ended"] == 1
    assert cookie(out)["Max-Age"] == "0"
    shown = {"Cookie": f"{old['name']}={old['value']}", "X-Toryo": browser.headers["X-Toryo"]}
    assert httpx.get(f"{server.url}/api/v1/me", headers=shown).status_code == 401


def test_a_browser_that_signs_in_ten_times_is_signed_in_once_and_others_stay(server: Running) -> None:
    other, _ = sign_in(server)
    browser, answer = sign_in(server)
    for role in ["viewer", "owner", "member"] * 3:
        enter(browser, code=ask(server, "make_sign_in_link", login=role)["code"])
    assert len(browser.get("/api/v1/sign-ins").json()["sign_ins"]) == 2
    first = {"Cookie": f"{cookie(answer)['name']}={cookie(answer)['value']}", "X-Toryo": answer.json()["page_secret"]}
    assert httpx.get(f"{server.url}/api/v1/me", headers=first).status_code == 401
    assert other.get("/api/v1/me").status_code == 200


def test_who_signs_in_again_as_themselves_stays_signed_in_as_before_in_every_tab(server: Running) -> None:
    browser, answer = sign_in(server)
    with browser.stream("GET", "/api/v1/events/stream") as stream:
        pieces = stream.iter_raw()
        assert b"person.link_made" in next(pieces)
        again = enter(browser, code=ask(server, "make_sign_in_link")["code"])
        assert any(b"person.proved" in piece for piece in pieces), "the stream goes on"
    assert cookie(again)["value"] == cookie(answer)["value"]
    assert again.json()["page_secret"] == answer.json()["page_secret"]
    assert len(browser.get("/api/v1/sign-ins").json()["sign_ins"]) == 1


def test_who_cannot_sign_in_anew_stays_signed_in(server: Running) -> None:
    browser, _ = sign_in(server)
    assert browser.post("/api/v1/sign-in", json={"code": "guessed"}).status_code == 401
    assert browser.get("/api/v1/me").status_code == 200


def test_a_stream_ends_when_its_browser_is_signed_out(server: Running) -> None:
    browser, _ = sign_in(server)
    with browser.stream("GET", "/api/v1/events/stream") as stream:
        pieces = stream.iter_raw()
        assert b"person.link_made" in next(pieces)
        browser.post("/api/v1/sign-out")
        rest = b"".join(pieces)
    assert b"person.signed_in" not in rest


# --- other sites -----------------------------------------------------------------------------------------------------


@pytest.mark.first(3)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"X-Toryo": "1"}, 401),
        ({"X-Toryo": ""}, 401),
    ],
)
def test_with_a_cookie_only_a_page_of_this_server_changes_anything(
    server: Running, headers: dict[str, str], status: int
) -> None:
    browser, _ = sign_in(server)
    project = {"name": "x", "working_directory": "/srv/x"}
    assert browser.post("/api/v1/projects", json=project, headers=headers).status_code == status
    listed = browser.get("/api/v1/projects").json()["projects"]
    assert len(listed) == (1 if status == 201 else 0)


def test_a_form_of_another_site_changes_nothing(server: Running) -> None:
    """It can send neither JSON nor a header of its own; what it puts into the address signs nobody in."""
    browser, _ = sign_in(server)
    del browser.headers["X-Toryo"]
    code = ask(server, "make_sign_in_link")["code"]
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"):
        sent = browser.post("/api/v1/projects", content=b'{"name":"x"}', headers={"Content-Type": kind})
        assert sent.status_code == 422
        for address, body in (
            (f"/api/v1/sign-in?code={code}", b""),
            ("/api/v1/sign-in", f'{{"code":"{code}"}}'.encode()),
        ):
            knock = browser.post(address, content=body, headers={"Content-Type": kind})
            assert knock.status_code == 403
            assert not knock.headers.get_list("set-cookie")


def test_a_program_with_a_token_needs_none_of_that(server: Running) -> None:
    headers = {"Authorization": f"Bearer {owner(server)}"}
    made = httpx.post(f"{server.url}/api/v1/projects", json={"name": "x", "working_directory": "/x"}, headers=headers)
    assert made.status_code == 201


# --- proxies ---------------------------------------------------------------------------------------------------------

FORWARDED = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}


def test_behind_a_trusted_proxy_that_says_https_the_cookie_is_secure(server: Running) -> None:
    behind = httpx.HTTPTransport(local_address="127.0.0.2")
    browser, answer = sign_in(server, transport=behind, headers=FORWARDED)
    set_ = cookie(answer)
    assert "Secure" in set_
    assert set_["name"] == "__Host-toryo"
    shown = {"Cookie": f"__Host-toryo={set_['value']}", "X-Toryo": answer.json()["page_secret"], **FORWARDED}
    assert browser.get("/api/v1/me", headers=shown).json()["person_id"] == "owner"


def test_what_a_stranger_says_about_proxies_is_not_believed(server: Running) -> None:
    assert "Secure" not in cookie(sign_in(server, headers=FORWARDED)[1])


@pytest.mark.parametrize(
    ("peer", "forwarded", "seen"),
    [
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9, 10.0.0.7", "203.0.113.9"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("192.0.2.1", "203.0.113.9", "192.0.2.1"),
        ("::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"),
    ],
)
def test_whose_request_it_is_says_the_last_proxy_that_is_trusted(peer: str, forwarded: str, seen: str) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"client": (peer, 1), "headers": headers, "scheme": "http"}
    assert Proxies(("10.0.0.0/8", "fd00::/8")).seen(scope)["client"][0] == seen


def test_a_proxy_on_the_unix_socket_is_trusted_where_that_is_said() -> None:
    scope = {"client": None, "headers": [(b"x-forwarded-proto", b"https")], "scheme": "http"}
    assert Proxies(("unix",)).seen(scope)["scheme"] == "https"
    assert Proxies(("10.0.0.1",)).seen(scope)["scheme"] == "http"


# --- knocking --------------------------------------------------------------------------------------------------------


def test_who_knocks_too_often_waits_and_others_do_not(server: Running) -> None:
    knock = {"person_id": "owner"}
    with httpx.Client(base_url=server.url, headers=PAGE) as fast:
        statuses = [fast.post("/api/v1/sign-in", json=knock).status_code for _ in range(BURST + 3)]
        refused = fast.post("/api/v1/sign-in", json=knock)
        assert fast.get("/api/v1/sign-in").status_code == 200, "looking is no knocking"
    assert statuses[:BURST] == [422] * BURST
    assert 429 in statuses
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= EVERY_SECONDS
    here = httpx.HTTPTransport(local_address="127.0.0.3")
    elsewhere = httpx.Client(base_url=server.url, transport=here, headers=PAGE)
    assert elsewhere.post("/api/v1/sign-in", json=knock).status_code == 422


def test_wrong_passwords_and_codes_of_one_machine_keep_nobody_there_from_opening_a_link(server: Running) -> None:
    ask(server, "set_password", person_id="owner", password=PASSWORD)
    with httpx.Client(base_url=server.url, headers=PAGE) as local:
        wrong = {"person_id": "owner", "password": "guessed"}
        statuses = {local.post("/api/v1/sign-in", json=wrong).status_code for _ in range(BURST + 3)}
        assert statuses == {401, 429}
        guesses = {local.post("/api/v1/sign-in", json={"code": "guessed"}).status_code for _ in range(BURST + 3)}
        assert guesses == {401}
    assert sign_in(server)[1].status_code == 200


def test_right_passwords_are_not_counted(server: Running) -> None:
    """So an office behind one address signs in on a Monday."""
    ask(server, "set_password", person_id="owner", password=PASSWORD)
    knock = {"person_id": "owner"}
    with httpx.Client(base_url=server.url, headers=PAGE) as office:
        for _ in range(5):
            assert office.post("/api/v1/sign-in", json={**knock, "password": PASSWORD}).status_code == 200
        assert {office.post("/api/v1/sign-in", json=knock).status_code for _ in range(BURST)} == {422}


def test_a_bucket_fills_again_as_time_passes() -> None:
    pace = Pace(burst=2, every_seconds=2)
    assert [pace.wait_seconds("a", 0) for _ in range(3)] == [0, 0, 2]
    assert pace.wait_seconds("a", 1) == 1
    assert pace.wait_seconds("a", 2) == 0
    assert [pace.wait_seconds("a", 1_000) > 0 for _ in range(3)] == [False, False, True]


def test_a_subscribers_ipv6_addresses_count_as_one_and_memory_is_bounded() -> None:
    pace = Pace(burst=1, remembered=100)
    assert pace.wait_seconds_at("2001:db8::1", 0) == 0
    assert pace.wait_seconds_at("2001:db8::2", 0) > 0
    for number in range(1_000):
        pace.wait_seconds(f"192.0.{number % 256}.{number // 256}", 0)
    assert len(pace) == 100


# --- what is written down --------------------------------------------------------------------------------------------


def test_neither_codes_nor_passwords_nor_cookies_stand_in_log_or_events(server: Running) -> None:
    ask(server, "set_password", person_id="owner", password=PASSWORD)
    code = ask(server, "make_sign_in_link")["code"]
    with httpx.Client(base_url=server.url, headers=PAGE) as browser:
        token = cookie(enter(browser, code=code))["value"]
        enter(browser, code=code)
        enter(browser, person_id="owner", password="a wrong one, but a secret")
        enter(browser, person_id="owner", password=PASSWORD)
        page = browser.headers["X-Toryo"]
        new = {"password": "some other words", "old_password": PASSWORD}
        assert browser.put("/api/v1/people/owner/password", json=new).status_code == 200
    events = str(ask(server, "read_events", limit=1000))
    assert "person.refused" in events
    server.close()
    kept = (server.app.directory.path / "logs" / "server.log").read_text()
    assert kept.count("sign_in") >= 4
    for secret in (code, token, page, PASSWORD, "a wrong one", "some other words", owner(server)):
        assert secret not in kept
        assert secret not in events

"""How long people are signed in, and which role they have: until which instant, and never more than was given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.domain.things import HANA, OLGA, refused
from toryo.domain import people
from toryo.domain.errors import Code
from toryo.domain.passwords import refuse_weak
from toryo.domain.people import MEMBER, OWNER, VIEWER, AccessToken, Account, How, SignIn

BROWSER = SignIn("sgn_1", "hana", MEMBER, How.LINK, created_at=0, expires_at=10)
TOKEN = AccessToken("tok_1", "hana", "ci", MEMBER, created_at=0, expires_at=10)


def test_a_link_is_good_for_ten_minutes_and_a_browser_for_two_weeks() -> None:
    assert (people.LINK_LIVES, people.LEAVING_LIVES) == (600_000, 600_000)
    assert (people.SIGN_IN_LIVES, people.KEPT_FOR) == (14 * 86_400_000, 30 * 86_400_000)


def test_a_browser_is_signed_in_until_the_instant_at_which_its_time_is_over() -> None:
    assert [BROWSER.live(now) for now in (9, 10)] == [True, False]
    assert not replace(BROWSER, ended_at=5).live(6)


def test_a_token_is_good_until_it_expires_or_is_revoked_and_without_an_end_always() -> None:
    assert [TOKEN.live(now) for now in (9, 10)] == [True, False]
    assert replace(TOKEN, expires_at=None).live(10**15)
    assert not replace(TOKEN, expires_at=None, revoked_at=5).live(6)


@pytest.mark.parametrize(
    ("subject", "left"), [("mailto:hana@example.org", None), ("https://id.example.org 17", ...), (None, None)]
)
def test_without_their_address_people_still_sign_in_by_what_else_the_provider_knows_them_by(
    subject: str | None, left: object
) -> None:
    account = Account("hana", MEMBER, subject=subject, email="hana@example.org")
    rest = account.without_address()
    assert (rest.email, rest.subject) == (None, subject if left is ... else left)


def test_the_role_is_the_accounts_and_without_one_that_of_the_setup() -> None:
    assert people.role_of(OLGA, Account("olga", VIEWER)) == VIEWER
    assert [people.role_of(person, None) for person in (OLGA, HANA)] == [OWNER, MEMBER]


def test_of_two_roles_the_lesser_counts() -> None:
    order = [VIEWER, MEMBER, OWNER]
    for low, one in enumerate(order):
        for high, other in enumerate(order):
            assert people.lesser(one, other) == order[min(low, high)]
            assert people.is_above(one, other) is (low > high)


@pytest.mark.parametrize("length", [9, 1_001])
def test_a_password_that_is_too_short_or_too_long_is_refused(length: int) -> None:
    assert "10 to 1,000" in refused(Code.VALIDATION_ERROR, refuse_weak, "p" * length).message


@pytest.mark.parametrize("length", [10, 1_000])
def test_a_password_may_be_as_short_and_as_long_as_is_said(length: int) -> None:
    refuse_weak("p" * length)


@pytest.mark.parametrize("other", ["mi\u212ae@x.org", "MI\u212aE@X.ORG", "m\u0131ke@x.org", "ｍike@x.org"])
def test_an_address_with_letters_that_only_look_alike_is_another_one(other: str) -> None:
    assert people.address(" Mike@X.org ") == "mike@x.org"
    assert people.address(other) != "mike@x.org"

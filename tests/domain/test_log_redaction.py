"""What is a secret by its name or its looks: one list of forms for the server's log and for Coordinators."""

from __future__ import annotations

import pytest

from toryo import secret_patterns
from toryo.domain import log_redaction
from toryo.output_redaction import Mask

OF_OTHERS = [
    "sk-" + "a1" * 12,
    "sk_live_" + "a1" * 10,
    "ghp_" + "a1" * 12,
    "glpat-" + "a1" * 10,
    "xoxb-" + "a1" * 8,
    "npm_" + "a1" * 18,
    "hf_" + "a1" * 12,
    "pypi-" + "a1" * 24,
    "AKIA" + "A1" * 8,
    "eyJ" + "a1" * 8 + "." + "a1" * 8 + "." + "a1" * 4,
]
OWN = [f"{prefix}{'a1' * 12}" for prefix in secret_patterns.PREFIXES]


@pytest.mark.parametrize("token", [*OWN, *OF_OTHERS])
@pytest.mark.parametrize("before", ["", "key=", "said: "])
def test_what_one_masks_the_other_masks(token: str, before: str) -> None:
    for shown in (log_redaction.hide_secrets(before + token), Mask([])(before + token)):
        assert token not in shown
        assert shown.startswith(before)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://db.example:5432/toryo", "postgresql://db.example:5432/toryo"),
        ("postgresql+psycopg://ann:secret@db.example/toryo", "postgresql+psycopg://***@db.example/toryo"),
        ("redis://:secret@cache.example:6379/0", "redis://***@cache.example:6379/0"),
        ("redis://ann@cache.example", "redis://***@cache.example"),
        ("https://a@b@host/x", "https://***@host/x"),
        ("https://a:b/c?d#e@host/x", "https://***@host/x"),
        ("https://host/x?token=1", "https://host/x"),
        ("https://host/x#token", "https://host/x"),
        ("https://host/x and more", "https://host/x"),
        ("sqlite:///file", "sqlite:///file"),
        ("secret", "***"),
        ("secret@host", "***"),
        ("://secret@host", "***"),
        ("my secret://host", "***"),
        ("", "***"),
    ],
)
def test_an_address_is_shown_without_who_signs_in_and_without_its_query(url: str, shown: str) -> None:
    assert log_redaction.address(url) == shown


@pytest.mark.parametrize("token", OWN)
def test_our_own_are_masked_behind_an_underscore_too(token: str) -> None:
    assert token not in log_redaction.hide_secrets(f"x_{token}")


@pytest.mark.parametrize(
    "name",
    [
        *("password", "old_password", "oldPassword", "pass_key", "passphrase", "pwd", "clientSecret", "session_token"),
        *("access_tokens", "token", "credentials", "Cookie", "bearer", "Authorization", "authorisation", "apikey"),
        *("api_key", "X-Api-Key", "private_key", "private-key", "access_key", "accesskey"),
        *("code", "oauth_code", "state", "pin", "otp", "x-otp"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert log_redaction.is_named(name)


@pytest.mark.parametrize(
    "name",
    [
        *("max_tokens", "maxTokens", "min_tokens", "num_tokens", "total_tokens", "input_tokens", "output_tokens"),
        *("cache_read_tokens", "cached_tokens", "prompt_tokens", "completion_tokens", "reasoning_tokens"),
        *("bypass", "title", "codec", "zipcode", "estate", "spin", "state_version", "key", "monkey"),
    ],
)
def test_names_of_no_secrets(name: str) -> None:
    assert not log_redaction.is_named(name)


@pytest.mark.parametrize(
    "secret",
    [
        *(f"{prefix}{'a' * 16}" for prefix in secret_patterns.PREFIXES),
        *(f"{prefix}{'a' * 20}" for prefix in ("sk-", "rk-", "pk-", "ghp_", "github_pat_", "hf_")),
        *(f"{prefix}{'a' * 16}" for prefix in ("sk_live_", "rk_test_", "glpat-")),
        *("xoxb-" + "1" * 10, "xapp-" + "1" * 10, "AKIA" + "A" * 16, "AIza" + "a" * 30, "ya29." + "a" * 20),
        *("npm_" + "a" * 30, "pypi-" + "a" * 40, f"SG.{'a' * 16}.{'a' * 16}", "eyJ" + "a" * 8 + "." + "a" * 8 + "."),
        *("bearer " + "x" * 8, "Bearer ~+/=~+/=", "https://u@h", "Authorization: Basic " + "a" * 8),
    ],
)
def test_the_shortest_secret_of_each_kind_is_masked(secret: str) -> None:
    assert log_redaction.MASK in log_redaction.hide_secrets(secret)

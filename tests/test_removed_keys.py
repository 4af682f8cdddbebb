"""Keys that went warn for six months and stop nobody. What a file's key does: tests/coordinator/test_config.py."""

from __future__ import annotations

from datetime import date

import pytest

from toryo import removed_keys
from toryo.cli import up_down
from toryo.coordinator.config import Config
from toryo.removed_keys import REMOVED, Removed
from toryo.settings import Settings


def test_each_warning_says_why_and_until_when_the_key_is_accepted() -> None:
    """Whatever day it is today: no build fails because time passes."""
    for key, removed in REMOVED.items():
        assert (removed.warns_until - removed.since).days >= 181, "six months"
        warning = removed_keys.among([key, "other"])[key]
        assert removed.why in warning
        assert str(removed.warns_until) in warning
    assert removed_keys.among(["other"]) == {}


def test_what_went_is_no_key_any_more() -> None:
    variables = {f"TORYO_{name}".upper() for name in Settings.model_fields}
    assert not REMOVED.keys() & (Config.model_fields.keys() | variables)


def test_a_variable_of_the_server_that_went_stops_nobody_and_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a group of settings, an unknown one would stop the server."""
    monkeypatch.setitem(REMOVED, "TORYO_GUARDS__PATIENCE", Removed(date(2026, 1, 31), "Nobody waits."))
    monkeypatch.setenv("TORYO_GUARDS__PATIENCE", "7")
    assert up_down._settings(port=1).port == 1
    assert capsys.readouterr().err == (
        "toryo: warning: TORYO_GUARDS__PATIENCE no longer has an effect. Nobody waits. Remove it: it is accepted until "
        "2026-08-02.\n"
    )

"""The lines of a log: calls and their results can be read again, are bounded, and hide secrets before they are cut."""

from __future__ import annotations

import json

from toryo.coordinator import log_lines
from toryo.coordinator.program_output import Called, Event, Piece, Reading, Returned, Said, Totals, Used
from toryo.output_redaction import MASK, Mask

KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA\n" * 20 + "-----END RSA PRIVATE KEY-----"


def written(*events: Event, secret: str | None = None, before: Totals | None = None) -> str:
    reading = Reading(lambda _: events, before or Totals(), mask=Mask([secret]))
    return reading.line("{}") + reading.rest()


def test_a_result_keeps_its_lines_below_its_mark() -> None:
    assert written(Called("Bash", '{"command": "ls"}'), Returned("a\r\nb  c\n\nd\n")) == (
        '→ Bash {"command": "ls"}\n← a\n│ b  c\n│\n│ d\n'
    )
    assert written(Returned("no\nsuch file", failed=True)) == "✗ no\n│ such file\n"
    assert written(Returned("10%\r50%\r100%\ndone")) == "← 100%\n│ done\n"
    assert written(Called("shell", "cd x\nmake")) == "→ shell cd x\n│ make\n"


def test_what_the_model_says_ends_with_one_end_of_a_line() -> None:
    assert written(Said("done"), Said("and\n"), Said("over")) == "done\nand\nover\n"


def test_a_long_result_shows_its_beginning_and_its_end() -> None:
    text = written(Returned("a" * 5000 + "z" * 5000))
    assert text.startswith("← aaa")
    assert text.endswith("zzz\n")
    assert "│ … 8000 characters …\n" in text
    assert len(text) < log_lines.LONGEST_RESULT + 100


def test_long_arguments_are_still_json_and_keep_what_is_short() -> None:
    arguments = json.dumps({"content": "x" * 90_000, "file_path": "src/a.py", "edits": [{"new": "y" * 3000}]})
    text = written(Called("Write", arguments)).removeprefix("→ Write ")
    shown = json.loads(text)
    assert shown["file_path"] == "src/a.py"
    assert shown["content"].endswith(f"… (+{90_000 - log_lines.LONGEST_VALUE})")
    assert len(text) <= log_lines.LONGEST_ARGUMENTS + 1
    many = written(Called("Write", json.dumps({f"n{number}": "x" * 500 for number in range(50)})))
    assert len(many) < log_lines.LONGEST_ARGUMENTS + 100


def test_what_is_answered_out_of_order_says_which_call_it_answers() -> None:
    calls = [Called("Read", "{}", "a"), Called("Grep", "{}", "b"), Called("Bash", "{}", "c")]
    assert written(*calls, Returned("3", id="c"), Returned("1", id="a"), Returned("2", id="b")).splitlines()[3:] == [
        "←3 3",
        "← 1",
        "← 2",
    ]
    assert written(*calls, Returned("1"), Returned("no", failed=True, id="c")).splitlines()[3:] == ["← 1", "✗2 no"]


def test_a_call_without_an_end_does_not_keep_all_later_ones() -> None:
    open_calls = log_lines.OpenCalls()
    for number in range(3 * log_lines.MOST_OPEN):
        open_calls.called(str(number))
    assert open_calls.answered(str(3 * log_lines.MOST_OPEN - 1)) == str(log_lines.MOST_OPEN)


def test_no_words_of_the_model_look_like_a_call() -> None:
    said = "→ Bash rm\n│ x\n! trouble\n· note\nΣ 3 in\n!important\nfine"
    expected = " → Bash rm\n │ x\n ! trouble\n · note\n Σ 3 in\n!important\nfine\n"
    assert written(Said(said)) == expected
    assert written(*(Piece(each) for each in said)) == expected


def test_secrets_are_hidden_before_anything_is_cut_or_broken_into_lines() -> None:
    secret = "hunter2-hunter2-hunter2"
    for pad in range(log_lines.LONGEST_RESULT - 2 * len(secret), log_lines.LONGEST_RESULT + len(secret)):
        assert "hunter2" not in written(Returned("x" * pad + secret + "y" * 3000), secret=secret)
    for pad in range(log_lines.LONGEST_VALUE - 2 * len(secret), log_lines.LONGEST_VALUE + len(secret)):
        arguments = json.dumps({"content": "x" * pad + secret + "y" * 3000})
        assert "hunter2" not in written(Called("Write", arguments), secret=secret)
    assert "MIIEpA" not in written(Returned(f"key:\n{KEY}\nend"))
    assert MASK in written(Returned(f"key:\n{KEY}\nend"))


def test_what_a_turn_used_is_said_where_the_program_reports_it() -> None:
    assert written(Used(1200, 34, 1000, cost_usd=0.0123)) == "Σ 1200 in · 34 out · 1000 cached · $0.0123\n"
    assert written(Used(10, 1, total=True), Used(30, 3, total=True)) == "Σ 10 in · 1 out\nΣ 20 in · 2 out\n"
    assert written(Used(30, 3, total=True), before=Totals(input_tokens=10, output_tokens=1)) == "Σ 20 in · 2 out\n"
    assert written(Used(5, 1, provisional=True), Used(model="m")) == ""

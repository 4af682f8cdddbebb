"""In which language a caller of REST reads, and answers worded in it."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from tests.server.http import Response, edge, exchange
from tests.server.test_rest import SENDING
from toryo.domain.projects import Language
from toryo.domain.tasks import Status
from toryo.domain.wording import say
from toryo.server import accept_language

TOLD = {"reason": "x", "explanation": say("A task cannot go from {status} to {to}.", status=Status.TODO, to="x")}
LARGE = b'{"thing_id":"' + b"x" * 2_000_000 + b'"}'


def too_large(*headers: tuple[str, str]) -> Response:
    async def once() -> Response:
        async with edge() as app:
            how: dict[str, Any] = {"method": "POST", "target": "/api/v1/things", "headers": (*SENDING, *headers)}
            return await exchange(app, LARGE, **how)

    return asyncio.run(once())


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, "en"),
        ("ja", "ja"),
        ("ja-JP,ja;q=0.9,en;q=0.8", "ja"),
        ("en-GB,ja;q=0.9", "en"),
        ("de, ja;q=0.5", "ja"),
        ("fr", "en"),
        ("ja;q=0", "en"),
        ("ja;q=nonsense", "en"),
        (",;q=,;;", "en"),
        ("*", "en"),
    ],
)
def test_the_language_that_a_caller_likes_best_is_spoken_and_english_to_everybody_else(
    header: str | None, language: str
) -> None:
    assert accept_language.wanted_language(header or "").value == language


def test_sentences_are_worded_anew_and_everything_else_stays() -> None:
    answer = {"list": [TOLD], "status": Status.TODO, "title": "No reason was given."}

    assert orjson.loads(accept_language.as_json(answer, Language.JAPANESE)) == {
        "list": [{"reason": "x", "explanation": "タスクを「未着手」から「x」にはできません。"}],
        "status": "todo",
        "title": "No reason was given.",
    }
    assert orjson.loads(accept_language.as_json(TOLD, Language.ENGLISH))["explanation"] == str(TOLD["explanation"])


def test_a_refusal_is_in_the_language_of_who_is_refused_with_the_same_code() -> None:
    english, japanese = too_large(), too_large(("accept-language", "ja"))

    assert english.json()["code"] == japanese.json()["code"] == "tooLarge"
    assert english.json()["detail"].startswith("The request is larger than")
    assert japanese.json()["detail"].endswith("バイトを超えています。")
    assert japanese.json()["instruction"].startswith("送る量を減らして")
    assert japanese.headers["content-language"] == "ja"
    assert "content-language" not in english.headers

"""A login that a process has found missing is looked for, and told once it is there; nothing else is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from toryo.client import Unreachable
from toryo.coordinator.failure_words import judge_runner
from toryo.coordinator.missing_logins import MissingLogin, MissingLogins
from toryo.coordinator.provider import Command, Login, Provider

BOUND = 60
SECOND = MissingLogin("claude", "second")


class Logins:
    """What a provider says of its login, one look after the other: the last answer stays."""

    def __init__(self, *answers: bool | OSError | None) -> None:
        self._answers = list(answers)
        self.asked: list[Mapping[str, str]] = []
        self.provider = Provider(
            "claude",
            lambda _: Command(("true",)),
            judge_runner,
            env=frozenset({"KEY"}),
            settings={"CONFIG_DIR": "/srv/second"},
            login=self._look,
        )

    def _look(self, environ: Mapping[str, str]) -> Login:
        self.asked.append(environ)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, OSError):
            raise answer
        return Login(answer, "")


def told_of(failed: Callable[[MissingLogins], None], enough: int = 1, away: int = 0) -> list[MissingLogin]:
    """What was told until there was `enough`; the server does not answer to the first reports (`away`)."""
    told: list[MissingLogin] = []

    async def watch() -> None:
        watching = MissingLogins({"PATH": "/bin", "KEY": "k", "TOKEN": "t"}, first=0, longest=0)
        all_told, tries = asyncio.Event(), [0]

        async def tell(login: MissingLogin) -> None:
            tries[0] += 1
            if tries[0] <= away:
                raise Unreachable("away")
            told.append(login)
            if len(told) >= enough:
                all_told.set()

        failed(watching)
        running = asyncio.create_task(watching.run(tell))
        await asyncio.wait_for(all_told.wait(), BOUND)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(watch())
    return told


THERE = MissingLogin("codex", None)


def there_later(watching: MissingLogins) -> None:
    """Another login, by which one knows that there were several looks."""
    watching.failed(THERE, Logins(False, False, False, False, True).provider)


def test_a_login_that_was_missing_is_told_once_it_is_there() -> None:
    logins = Logins(False, None, PermissionError("not now"), False, True)
    assert told_of(lambda watching: watching.failed(SECOND, logins.provider)) == [SECOND]
    assert len(logins.asked) == 5


def test_it_is_told_once_however_often_it_has_failed() -> None:
    logins = Logins(False, True)

    def fail(watching: MissingLogins) -> None:
        watching.failed(SECOND, logins.provider)
        watching.failed(SECOND, logins.provider)
        there_later(watching)

    assert told_of(fail, enough=2) == [SECOND, THERE]
    assert len(logins.asked) == 2


def test_a_login_that_seems_to_be_there_or_of_which_nothing_is_known_is_not_told() -> None:
    """Its service has refused it: agents would be started again and again."""
    refused, unknown = Logins(True), Logins(None, False, True)

    def fail(watching: MissingLogins) -> None:
        watching.failed(SECOND, refused.provider)
        watching.failed(MissingLogin("gemini", None), unknown.provider)
        there_later(watching)

    assert told_of(fail) == [THERE]
    assert (len(refused.asked), len(unknown.asked)) == (1, 1)


def test_what_the_server_has_not_heard_is_told_again() -> None:
    assert told_of(lambda watching: watching.failed(SECOND, Logins(False, True).provider), away=2) == [SECOND]


def test_a_login_is_looked_for_in_the_environment_of_its_account() -> None:
    logins = Logins(False, True)
    told_of(lambda watching: watching.failed(SECOND, logins.provider))
    assert logins.asked[0] == {"PATH": "/bin", "KEY": "k", "CONFIG_DIR": "/srv/second"}

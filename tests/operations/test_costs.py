"""What a call costs before it is known to be any good, for every operation: made from their declarations."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from toryo.domain.errors import Code
from toryo.operations.calls import argument_redaction, validation
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import MOST_NAMES, Operation, Parameters, catalogue
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.calls.grants import Door, Grant
from toryo.settings import Settings
from toryo.storage.errors import DatabaseUnavailable

LEAVES = "logout"
"""Always succeeds."""
MANY = 20_000
MOST_MISTAKES = 2_500
"""Of one call. Each costs a microsecond or two; a call of two megabytes can spell a hundred thousand."""
STRANGER = Credentials(remote="192.0.2.7", browser="a browser", correlation_id="c")


class Untouched:
    """A database that nobody may use."""

    dialect = "sqlite"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read(self, work: Callable[..., Any]) -> Any:
        self.asked.append("read")
        raise DatabaseUnavailable("It was asked.", "Do not ask.")

    write = read


def office() -> tuple[Dispatcher, Untouched]:
    database = Untouched()
    return Dispatcher(database, Settings(), lambda: 0, lambda _bits: 0, lambda _topics: None), database  # type: ignore[arg-type]


def operations() -> list[Operation]:
    return list(catalogue().values())


def names(operation: Operation) -> str:
    return operation.name


def fillings(schema: dict[str, Any], defined: dict[str, Any], depth: int = 0) -> Iterator[Any]:
    """Values that are wrong in as many places as this part of a declaration allows."""
    if depth > 5:
        return
    if "$ref" in schema:
        yield from fillings(defined[schema["$ref"].rpartition("/")[2]], defined, depth + 1)
    for each in schema.get("anyOf", ()):
        yield from fillings(each, defined, depth)
    if schema.get("type") == "array":
        yield [object.__new__(Wrong)] * MANY
        for filling in fillings(schema.get("items", {}), defined, depth + 1):
            yield [filling] * min(schema.get("maxItems", MANY), 20)
    if schema.get("type") == "object":
        yield {f"name{number}": object.__new__(Wrong) for number in range(MANY)}
        for name, part in schema.get("properties", {}).items():
            for filling in fillings(part, defined, depth + 1):
                yield {name: filling}


class Wrong:
    """Of no type that any parameter has."""


@pytest.mark.parametrize("operation", operations(), ids=names)
def test_there_is_a_limit_to_the_mistakes_of_one_call(operation: Operation) -> None:
    schema = operation.input_schema
    for arguments in fillings({**schema, "type": "object"}, schema.get("$defs", {})):
        if any(isinstance(value, dict) and not _is_declared(operation, name) for name, value in arguments.items()):
            continue  # free-form: whatever it holds is nobody's mistake
        with pytest.raises(ValidationError) as caught:
            operation.parameters.model_validate(arguments)
        assert caught.value.error_count() <= MOST_MISTAKES, list(arguments)[:3]


def _is_declared(operation: Operation, name: str) -> bool:
    schema = str(operation.input_schema["properties"].get(name, ""))
    return "$ref" in schema or "'additionalProperties': {" in schema


def test_every_object_among_the_parameters_refuses_ever_more_names() -> None:
    def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
        yield model
        for field in model.model_fields.values():
            yield from (each for part in _parts(field.annotation) for each in models(part))

    for operation in operations():
        for model in models(operation.parameters):
            assert issubclass(model, Parameters), f"{operation.name}: {model.__name__}"


def _parts(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in getattr(annotation, "__args__", ()):
        yield from _parts(each)


@pytest.mark.parametrize("operation", operations(), ids=names)
def test_nonsense_of_a_stranger_never_reaches_the_database(operation: Operation) -> None:
    asked, database = office()
    for nonsense in ({"no_such_parameter": 1}, {f"name{number}": 1 for number in range(MANY)}):
        outcome = asked.perform(operation.name, nonsense, STRANGER, door=Door.OWN)
        assert outcome.refused or operation.name == LEAVES
        assert len(str(outcome.result)) < 10_000
    assert database.asked == []


@pytest.mark.parametrize(
    "operation",
    [each for each in operations() if each.grant not in (Grant.OPEN, Grant.REGISTRAR)],
    ids=names,
)
def test_a_stranger_is_refused_without_the_database_where_a_credential_is_needed(operation: Operation) -> None:
    asked, database = office()
    outcome = asked.perform(operation.name, {}, STRANGER, door=Door.OWN)
    assert outcome.refused or operation.name == LEAVES
    assert database.asked == []


def test_arguments_are_judged_before_a_transaction_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    judge = validation.parameters_of

    def judged(operation: Operation, arguments: dict[str, Any]) -> Any:
        order.append("judged")
        return judge(operation, arguments)

    monkeypatch.setattr(validation, "parameters_of", judged)
    asked, database = office()
    asked.perform("file_task", {"wrong": 1}, Credentials(bearer="tpt_somebody"))
    assert (order, database.asked) == (["judged"], ["read"])


def test_near_names_are_looked_for_five_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    near = difflib.get_close_matches

    def look(word: str, *further: Any) -> list[str]:
        looked.append(word)
        return near(word, *further)

    monkeypatch.setattr(difflib, "get_close_matches", look)
    asked, _ = office()
    arguments = {f"agent_i{'d' * 100_000}{number}": 1 for number in range(MOST_NAMES)}
    outcome = asked.perform("authenticate", arguments, STRANGER)
    asked.perform("x" * 1_000_000, {}, STRANGER)
    assert outcome.result is not None
    assert outcome.result["error"] == Code.VALIDATION_ERROR
    assert len(str(outcome.result)) < 10_000
    assert len(looked) == 6
    assert max(len(each) for each in looked) <= 100


@pytest.mark.parametrize(
    ("text", "has_one"),
    [("\0", True), ("a\0b", True), ("\\\0", True), ("\\u0000", False), ("\\\\u0000", False), ("\\\\\0", True)],
)
def test_a_nul_is_told_from_a_text_about_one(text: str, has_one: bool) -> None:
    asked, _ = office()
    outcome = asked.perform("authenticate", {"agent_id": text}, STRANGER)
    assert outcome.result is not None
    assert ("NUL" in outcome.result["message"]) is has_one


# --- the log ---------------------------------------------------------------------------------------------------------

SECRETS = [
    "tpt_0123456789abcdefghijklmnop",
    "tqk_0123456789abcdefghijklmnop",
    "tbs_0123456789abcdefghijklmnop",
    "pk_0123456789abcdefghijklmnop",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-012345678901-abcdefghijkl",
    "https://ann:s3cret-word@example.org/",
]


@pytest.mark.parametrize("operation", operations(), ids=names)
def test_the_log_shows_no_secret_of_any_parameter_at_any_depth(operation: Operation) -> None:
    for secret in SECRETS:
        for name in (*operation.parameters.model_fields, "pass_key", "a_typo", secret):
            for value in (secret, f"look: {secret} there", [secret], {"a": [{"b": secret}]}, {secret: 1}):
                shown = argument_redaction.logged_text(operation.parameters, {name: value})
                assert secret not in shown
                assert "s3cret-word" not in shown


@pytest.mark.parametrize(
    "name", ["pass_key", "passKey", "api_key", "X-Api-Key", "old_password", "clientSecret", "code"]
)
def test_what_is_secret_by_its_name_is_not_shown_though_nobody_declared_it(name: str) -> None:
    assert (
        argument_redaction.logged_text(catalogue()["authenticate"].parameters, {name: "hunter2"})
        == f'{{"{name}":"***"}}'
    )


def test_texts_of_people_and_agents_are_told_by_their_size() -> None:
    chat, shared = catalogue()["send_message"].parameters, catalogue()["set_shared_state"].parameters
    assert "confidential" not in argument_redaction.logged_text(chat, {"content": "confidential words"})
    assert '"content":"(text of 18 characters)"' in argument_redaction.logged_text(
        chat, {"content": "confidential words"}
    )
    shown = argument_redaction.logged_text(shared, {"key": "build", "value": {"note": "confidential"}})
    assert shown == '{"key":"build","value":"(object of 1)"}'


def test_ids_names_and_numbers_are_shown() -> None:
    filed = catalogue()["file_task"].parameters
    shown = argument_redaction.logged_text(filed, {"project_id": "prj_1", "title": "Ship it", "priority": "high"})
    assert shown == '{"project_id":"prj_1","title":"Ship it","priority":"high"}'


def test_a_log_line_stays_short_whatever_is_sent() -> None:
    arguments = {f"{number}{'x' * 5_000}": "y" * 100_000 for number in range(1_000)}
    line = argument_redaction.logged_text(catalogue()["file_task"].parameters, arguments)
    assert len(line) < 5_000

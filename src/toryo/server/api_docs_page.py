"""`/api/docs`: the OpenAPI document as one page, without scripts or external resources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

Schema = dict[str, Any]

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: #3b6fd4 }
body { font: 15px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
code { font: 13px ui-monospace, monospace; background: var(--soft); padding: .1em .3em; border-radius: 4px }
details { border: 1px solid var(--line); border-radius: 8px; margin: .4rem 0; padding: .5rem .8rem }
summary { cursor: pointer } summary b { display: inline-block; min-width: 4.2rem; color: var(--accent) }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 } h2 { margin-top: 2.2rem }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line) }
td:first-child { white-space: nowrap } a { color: var(--accent) } .overflow { overflow-x: auto }
"""


def page(document: Schema) -> str:
    """The whole page: every path with its parameters and answers, then the schemas."""
    info, schemas = document["info"], document["components"]["schemas"]
    return "".join(
        [
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}: REST</title>",
            f"<meta name=viewport content='width=device-width,initial-scale=1'><style>{_STYLE}</style>",
            f"<h1>{escape(info['title'])} {escape(info['version'])}: REST</h1><p>{escape(info['description'])} ",
            "For programs: <a href=/api/v1/openapi.json>openapi.json</a> (OpenAPI 3.1).",
            *_security(document["components"]["securitySchemes"]),
            *_paths(document["paths"]),
            "<h2>Nouns</h2>",
            *(_noun(name, schemas[name]) for name in sorted(schemas)),
            "</html>",
        ]
    )


def _security(schemes: Schema) -> Iterator[str]:
    yield "<h2>Signing in</h2>"
    yield _table((f"<code>{escape(name)}</code>", escape(scheme["description"])) for name, scheme in schemes.items())


def _paths(paths: Schema) -> Iterator[str]:
    heading = None
    for path in sorted(paths):
        noun = path.split("/")[3]
        if noun != heading:
            heading = noun
            yield f"<h2>{escape(noun)}</h2>"
        for method, operation in paths[path].items():
            yield _operation(method.upper(), path, operation)


def _operation(method: str, path: str, operation: Schema) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    required = set(body.get("required", ()))
    rows = [
        (
            parameter["name"],
            parameter["in"],
            _type(parameter["schema"]),
            parameter.get("required", False),
            parameter.get("description", ""),
        )
        for parameter in operation["parameters"]
    ]
    rows += [
        (name, "body", _type(each), name in required, each.get("description", ""))
        for name, each in body.get("properties", {}).items()
    ]
    takes = _table(
        (f"<code>{escape(name)}</code>{' *' if needed else ''}", where, kind, escape(words))
        for name, where, kind, needed, words in rows
    )
    answers = "".join(_answer(status, response) for status, response in operation["responses"].items())
    name, summary = escape(operation["operationId"]), escape(operation["summary"])
    return (
        f"<details id={name}><summary><b>{method}</b> <code>{escape(path)}</code></summary><p>{summary}<p>Name: "
        f"<code>{name}</code>. * is required.{takes}<p>Answers:{answers}</details>"
    )


def _answer(status: str, response: Schema) -> str:
    shown = "".join(
        f"{escape(media)}: {_type(each['schema'])}{_table(_fields(each['schema']))}"
        for media, each in response.get("content", {}).items()
    )
    return f"<p><code>{escape(status)}</code> {shown}"


def _noun(name: str, schema: Schema) -> str:
    words = escape(schema.get("description", ""))
    fields, name = _table(_fields(schema)), escape(name)
    return f"<details id=schema-{name}><summary>{name}</summary><p>{words}{fields}</details>"


def _fields(schema: Schema) -> Iterator[tuple[str, ...]]:
    for name, each in schema.get("properties", {}).items():
        yield f"<code>{escape(name)}</code>", _type(each), escape(each.get("description", ""))


def _type(schema: Schema) -> str:
    """A type in words; schemas are links."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href=#schema-{name}>{name}</a>"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(_type(each) for each in schema[key])
    if "enum" in schema:
        return " ".join(f"<code>{escape(str(each))}</code>" for each in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(str(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(_NAMES.get(str(schema.get("type")), "anything"))


_NAMES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "object": "object",
    "null": "null",
}


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class=overflow><table>{lines}</table></div>" if lines else ""

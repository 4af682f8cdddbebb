"""The OpenAPI 3.1 document of `/api/v1`, generated from the declarations of the operations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import toryo
from toryo.operations.calls.catalogue import Operation, Route
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.idempotency import applies

Schema = dict[str, Any]

_PROBLEM: Schema = {
    "type": "object",
    "description": "A refusal (RFC 9457): what is wrong and what to do.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "instruction": {"type": "string"},
    },
    "required": ["status", "title", "detail", "code", "instruction"],
}


_STREAM: Schema = {
    "operationId": "follow_events",
    "summary": "The events as they happen, as server-sent events. The id of each is its sequence number; its data "
    "has the form of read_events. Lines that begin with a colon keep the connection open.",
    "responses": {
        "200": {
            "description": "Continues until the client disconnects or the server stops.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        "default": {
            "description": "Refused.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        },
    },
}
_LAST_SEEN: Schema = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The last event received. Browsers send it when they reconnect; it takes precedence over `after`.",
    "schema": {"type": "integer", "minimum": 0},
}
_IDEMPOTENCY_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request with the same key and content is carried out once and gets the same answer again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
_IF_MATCH: Schema = {
    "name": "If-Match",
    "in": "header",
    "description": "The version that was read, instead of `version`. A different current version is a conflict.",
    "schema": {"type": "string", "pattern": '^"?[0-9]{1,15}"?$'},
}
SECURITY: Schema = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of a person."},
    "browser": {
        "type": "apiKey",
        "in": "cookie",
        "name": "toryo",
        "description": "The cookie that POST /sign-in sets. Over plain HTTP its name ends with the server's port "
        "(toryo-8765); over HTTPS it is __Host-toryo. It is worth something only together with the header X-Toryo: the "
        "page_secret that POST /sign-in has answered.",
    },
}


def document(operations: Iterable[Operation], prefix: str, stream: str) -> Schema:
    """The whole document; paths carry `prefix`. `stream` is the path of the event stream."""
    shared: dict[str, Schema] = {"Problem": _PROBLEM}
    paths: dict[str, Schema] = {}
    for operation in operations:
        if operation.route is not None:
            path = paths.setdefault(prefix + operation.route.path, {})
            path[operation.route.method.lower()] = _described(operation, operation.route, shared)
    if f"{prefix}/events" in paths:
        reading = paths[f"{prefix}/events"]["get"]
        # As `read_events`, which it is, again and again; `after=now` begins with what comes next.
        left_out = ("limit", "wait_seconds", "newest", "before")
        kept = [parameter for parameter in reading["parameters"] if parameter["name"] not in (*left_out, "after")]
        after = {"name": "after", "in": "query", "description": "The last sequence number you have received, or now."}
        either = {"anyOf": [{"type": "integer", "minimum": 0}, {"const": "now"}]}
        paths[prefix + stream] = {"get": {**_STREAM, "parameters": [{**after, "schema": either}, *kept, _LAST_SEEN]}}
        # The same path streams for who asks for it by the header `Accept`.
        reading["summary"] += " With Accept: text/event-stream: as they happen (see follow_events)."
        reading["responses"]["200"]["content"].update(_STREAM["responses"]["200"]["content"])
        reading["parameters"] = [*reading["parameters"], _LAST_SEEN]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Toryo", "version": toryo.__version__, "description": "For people; agents use MCP at /mcp."},
        "paths": paths,
        "components": {"schemas": shared, "securitySchemes": SECURITY},
        "security": [{name: []} for name in SECURITY],
    }


def _described(operation: Operation, route: Route, shared: dict[str, Schema]) -> Schema:
    parameters = _hoisted(operation.input_schema, shared)
    properties: dict[str, Schema] = parameters.get("properties", {})
    required = set(parameters.get("required", ()))
    in_path = set(re.findall(r"\{(\w+)\}", route.path))
    in_query = set(properties) - in_path if route.method in ("GET", "DELETE") else set()
    described: Schema = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [
            _parameter(name, schema, "path" if name in in_path else "query", name in required)
            for name, schema in properties.items()
            if name in in_path | in_query
        ],
        "responses": _responses(operation, route, shared),
    }
    keyed = [_IDEMPOTENCY_KEY] if applies(operation) else []
    described["parameters"] += [*keyed, _IF_MATCH] if "version" in properties else keyed
    body = {name: schema for name, schema in properties.items() if name not in in_path | in_query}
    if body:
        described["requestBody"] = _body(body, required & set(body))
    if operation.grant is Grant.OPEN:
        described["security"] = []
    return described


def _parameter(name: str, schema: Schema, where: str, required: bool) -> Schema:
    described: Schema = {"name": name, "in": where, "required": required or where == "path"}
    if "description" in schema:
        described["description"] = schema["description"]
    return {**described, "schema": {key: value for key, value in schema.items() if key != "description"}}


def _body(properties: dict[str, Schema], required: set[str]) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": properties,
        "required": sorted(required),
        "additionalProperties": False,
    }
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}


def _responses(operation: Operation, route: Route, shared: dict[str, Schema]) -> Schema:
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    if route.file:
        content: Schema = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    else:
        content = {"application/json": {"schema": _hoisted(operation.output_schema, shared)}}
    return {
        str(route.status): {"description": "Done.", "content": content},
        "default": {"description": "Refused.", "content": {"application/problem+json": problem}},
    }


def _hoisted(schema: Schema, shared: dict[str, Schema]) -> Schema:
    """The schema with its `$defs` moved to the shared ones, so that references work from everywhere."""
    names: dict[str, str] = {}
    for name, definition in schema.get("$defs", {}).items():
        # `name`, or with a number if another operation uses it for something else.
        free, number = name, 2
        while free in shared and shared[free] != _redirected(definition, {}):
            free, number = f"{name}{number}", number + 1
        names[name] = free
        shared[free] = definition
    moved: Schema = _redirected({key: value for key, value in schema.items() if key != "$defs"}, names)
    for name in names.values():
        shared[name] = _redirected(shared[name], names)
    return moved


def _redirected(node: Any, names: dict[str, str]) -> Any:
    if isinstance(node, dict):
        return {
            key: _reference(value, names) if key == "$ref" else _redirected(value, names) for key, value in node.items()
        }
    if isinstance(node, list):
        return [_redirected(each, names) for each in node]
    return node


def _reference(reference: Any, names: dict[str, str]) -> Any:
    local = str(reference).removeprefix("#/$defs/")
    return f"#/components/schemas/{names.get(local, local)}" if local != reference else reference

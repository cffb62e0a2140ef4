"""A tool's signature is its schema: from Python annotations to JSON Schema, and arguments checked by it.

Browsers and most clients do not validate arguments against a tool's schema, so this is the
only place where a wrong argument is caught, and its message is all that an agent gets.
"""

from __future__ import annotations

import difflib
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import fastjsonschema

from pywebmcp.errors import Code, ToolError
from pywebmcp.settings import camel
from pywebmcp.types import Arg


@dataclass(frozen=True, slots=True)
class Signature:
    """The input schema (JSON Schema, object) and the Python name of each JSON argument."""

    schema: dict[str, Any]
    names: Mapping[str, str]


_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}
_ARTICLES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
}


def signature(function: Callable[..., Any]) -> Signature:
    """Read the keyword-only parameters of a handler; its first parameter is the call.

    Raises TypeError for an annotation that has no JSON Schema, at import, not in a call.
    """
    hints = get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    names: dict[str, str] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        hint, arg = _unwrap(hints[parameter.name])
        name = arg.name or camel(parameter.name)
        properties[name] = _schema(hint, arg)
        names[name] = parameter.name
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return Signature(schema, names)


def _unwrap(hint: Any) -> tuple[Any, Arg]:
    """Peel Annotated, Required/NotRequired and ``| None`` off a hint."""
    arg = Arg()
    while True:
        origin = get_origin(hint)
        if origin is Annotated:
            hint, extra, *_ = get_args(hint)
            arg = extra if isinstance(extra, Arg) else Arg(str(extra))
        elif origin in (Required, NotRequired):
            (hint,) = get_args(hint)
        elif origin in (Union, types.UnionType) and type(None) in get_args(hint):
            rest = tuple(part for part in get_args(hint) if part is not type(None))
            hint = Union[rest]  # noqa: UP007
        else:
            return hint, arg


def _schema(hint: Any, arg: Arg) -> dict[str, Any]:
    schema: dict[str, Any]
    origin = get_origin(hint)
    if hint in _SIMPLE:
        schema = {"type": _SIMPLE[hint]}
    elif origin is Literal:
        schema = {"type": "string", "enum": list(get_args(hint))}
    elif origin is list:
        schema = {"type": "array", "items": _schema(*_unwrap(get_args(hint)[0]))}
    elif origin is dict or hint is dict:
        schema = {"type": "object"}
    elif origin in (Union, types.UnionType):
        schema = {"type": [_SIMPLE[part] for part in get_args(hint)]}
    elif is_typeddict(hint):
        schema = _typed_dict(hint)
    else:
        raise TypeError(f"no JSON Schema for {hint!r}")
    if arg.description:
        schema["description"] = arg.description
    for key, value in (
        ("minimum", arg.ge),
        ("minItems", arg.min_items),
        ("minLength", arg.min_length),
    ):
        if value is not None:
            schema[key] = value
    return schema


def _typed_dict(hint: Any) -> dict[str, Any]:
    hints = get_type_hints(hint, include_extras=True)
    schema = {
        "type": "object",
        "properties": {camel(name): _schema(*_unwrap(part)) for name, part in hints.items()},
        # __required_keys__ does not see NotRequired in postponed annotations (Python 3.11).
        "required": [
            camel(name)
            for name, part in hints.items()
            if get_origin(part) is Required
            or (hint.__total__ and get_origin(part) is not NotRequired)
        ],
        "additionalProperties": False,
    }
    if not schema["required"]:
        del schema["required"]
    return schema


class Validator:
    """Checks arguments against one schema; compiled at first use, since a boot needs none."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._compiled: Callable[[Any], Any] | None = None

    def __call__(self, arguments: Any) -> dict[str, Any]:
        """Answer the arguments without nulls, integral numbers as int.

        Raises ``ToolError`` INVALID_ARGUMENT or UNKNOWN_ARGUMENT.
        """
        if not isinstance(arguments, Mapping):
            raise ToolError(
                Code.INVALID_ARGUMENT,
                f"The arguments must be a JSON object, not {_kind(arguments)}.",
            )
        cleaned: dict[str, Any] = _without_nulls(dict(arguments), self._schema)
        if self._compiled is None:
            self._compiled = fastjsonschema.compile(self._schema, use_default=False)
        try:
            self._compiled(cleaned)
        except fastjsonschema.JsonSchemaValueException as error:
            raise _explained(error) from None
        return cleaned


def _without_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    """Drop null members where the schema names members: null counts as absent."""
    if isinstance(value, dict) and "properties" in schema:
        parts = schema["properties"]
        return {
            key: _without_nulls(part, parts.get(key, {}))
            for key, part in value.items()
            if part is not None
        }
    if isinstance(value, list) and "items" in schema:
        return [_without_nulls(part, schema["items"]) for part in value]
    if isinstance(value, float) and value.is_integer() and "integer" in schema.get("type", ()):
        return int(value)
    return value


def _explained(error: fastjsonschema.JsonSchemaValueException) -> ToolError:
    """One sentence an agent can act on, from fastjsonschema's exception."""
    where = (error.name or "").removeprefix("data").removeprefix(".")
    subject = f'Argument "{where}"' if where else "The arguments"
    rule, wanted = error.rule, error.rule_definition
    if rule in ("additionalProperties", "required"):
        # A misspelt name is both: missing and unknown. What was given wrong helps more.
        unknown = _unknown(error, where)
        if unknown is not None:
            return unknown
        missing = next(name for name in wanted if name not in error.value)
        path = f"{where}.{missing}" if where else missing
        return ToolError(
            Code.INVALID_ARGUMENT,
            f'Argument "{path}" is missing. {_accepted(error.definition)}',
        )
    if rule == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        text = f"must be {' or '.join(_ARTICLES[kind] for kind in kinds)}, not {_kind(error.value)}"
    elif rule == "enum":
        text = f"must be one of {_quoted(wanted)}"
    elif rule == "minimum":
        text = f"must be at least {wanted}"
    elif rule == "minItems":
        text = f"must have at least {wanted} item{'s' if wanted > 1 else ''}"
    elif rule == "minLength":
        text = "must not be empty"
    else:
        text = f"does not fit: {error.message}"
    return ToolError(Code.INVALID_ARGUMENT, f"{subject} {text}.")


def _unknown(error: fastjsonschema.JsonSchemaValueException, where: str) -> ToolError | None:
    known = error.definition.get("properties", {})
    name = next((key for key in error.value if key not in known), None)
    if name is None:
        return None
    inside = [each for each in known if name.lower() in each.lower()]
    close = inside or difflib.get_close_matches(name, known, 1)
    hint = f' Did you mean "{close[0]}"?' if close else ""
    place = f' in "{where}"' if where else ""
    return ToolError(
        Code.UNKNOWN_ARGUMENT,
        f'Unknown argument "{name}"{place}. {_accepted(error.definition)}{hint}',
    )


def _accepted(definition: Mapping[str, Any]) -> str:
    names = definition.get("properties", {})
    if not names:
        return "This tool takes no arguments."
    return f"Accepted arguments: {_quoted(names)}."


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"

"""A signature gives the schema, and the schema's messages tell an agent what to change."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from pywebmcp.errors import Code, ToolError
from pywebmcp.schema import Validator, signature
from pywebmcp.types import Arg


class Point(TypedDict):
    line: Annotated[int, Arg("0-based", ge=0)]
    column: NotRequired[int]


class Loose(TypedDict, total=False):
    note: str


async def example(
    call: object,
    *,
    cell_id: Annotated[str, Arg("Which cell")],
    command: Annotated[str, Arg(name="command_id")] = "",
    count: Annotated[int, Arg(ge=1)] | None = None,
    ratio: float = 1.0,
    flag: bool = False,
    position: Literal["above", "below"] | None = None,
    points: Annotated[list[Point], Arg(min_items=1)] | None = None,
    loose: Loose | None = None,
    free: dict[str, Any] | None = None,
    button: str | int | None = None,
    name: Annotated[str, Arg(min_length=1)] | None = None,
) -> dict[str, Any]:
    """Example."""
    return {}


SCHEMA = signature(example).schema
validate = Validator(SCHEMA)


def refused(arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        validate(arguments)
    return caught.value


def test_schema_follows_the_signature() -> None:
    assert SCHEMA == {
        "type": "object",
        "properties": {
            "cellId": {"type": "string", "description": "Which cell"},
            "command_id": {"type": "string"},
            "count": {"type": "integer", "minimum": 1},
            "ratio": {"type": "number"},
            "flag": {"type": "boolean"},
            "position": {"type": "string", "enum": ["above", "below"]},
            "points": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "line": {"type": "integer", "description": "0-based", "minimum": 0},
                        "column": {"type": "integer"},
                    },
                    "required": ["line"],
                    "additionalProperties": False,
                },
            },
            "loose": {
                "type": "object",
                "properties": {"note": {"type": "string"}},
                "additionalProperties": False,
            },
            "free": {"type": "object"},
            "button": {"type": ["string", "integer"]},
            "name": {"type": "string", "minLength": 1},
        },
        "required": ["cellId"],
        "additionalProperties": False,
    }


def test_names_map_json_to_python() -> None:
    names = signature(example).names
    assert names["cellId"] == "cell_id"
    assert names["command_id"] == "command"


def test_an_annotation_without_schema_fails_at_import() -> None:
    async def odd(call: object, *, value: bytes) -> None:
        """Odd."""

    with pytest.raises(TypeError, match="bytes"):
        signature(odd)


def test_null_counts_as_absent_at_every_named_place() -> None:
    given = {
        "cellId": "a",
        "count": None,
        "points": [{"line": 1, "column": None}],
        "free": {"kept": None},
    }
    assert validate(given) == {
        "cellId": "a",
        "points": [{"line": 1}],
        "free": {"kept": None},
    }


def test_a_null_required_argument_is_missing() -> None:
    assert 'Argument "cellId" is missing' in refused({"cellId": None}).message


def test_the_callers_arguments_are_not_changed() -> None:
    given = {"cellId": "a", "count": None}
    validate(given)
    assert given == {"cellId": "a", "count": None}


def test_integral_numbers_become_int() -> None:
    count = validate({"cellId": "a", "count": 3.0})["count"]
    assert count == 3
    assert type(count) is int


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], Code.INVALID_ARGUMENT, "The arguments must be a JSON object, not an array."),
        (3, Code.INVALID_ARGUMENT, "The arguments must be a JSON object, not a number."),
        (
            {},
            Code.INVALID_ARGUMENT,
            'Argument "cellId" is missing. Accepted arguments: "cellId", "command_id",',
        ),
        ({"cellId": 3}, Code.INVALID_ARGUMENT, 'Argument "cellId" must be a string, not a number.'),
        (
            {"cellId": True},
            Code.INVALID_ARGUMENT,
            'Argument "cellId" must be a string, not true or false.',
        ),
        (
            {"cellId": "a", "count": 0},
            Code.INVALID_ARGUMENT,
            'Argument "count" must be at least 1.',
        ),
        (
            {"cellId": "a", "count": 1.5},
            Code.INVALID_ARGUMENT,
            'Argument "count" must be an integer, not a number.',
        ),
        (
            {"cellId": "a", "count": True},
            Code.INVALID_ARGUMENT,
            'Argument "count" must be an integer, not true or false.',
        ),
        (
            {"cellId": "a", "position": "left"},
            Code.INVALID_ARGUMENT,
            'Argument "position" must be one of "above", "below".',
        ),
        (
            {"cellId": "a", "points": []},
            Code.INVALID_ARGUMENT,
            'Argument "points" must have at least 1 item.',
        ),
        (
            {"cellId": "a", "points": [{"line": 1}, {"column": 1}]},
            Code.INVALID_ARGUMENT,
            'Argument "points[1].line" is missing.',
        ),
        (
            {"cellId": "a", "points": [{"line": "x"}]},
            Code.INVALID_ARGUMENT,
            'Argument "points[0].line" must be an integer, not a string.',
        ),
        (
            {"cellId": "a", "button": []},
            Code.INVALID_ARGUMENT,
            'Argument "button" must be a string or an integer, not an array.',
        ),
        ({"cellId": "a", "name": ""}, Code.INVALID_ARGUMENT, 'Argument "name" must not be empty.'),
        (
            {"cellid": "a"},
            Code.UNKNOWN_ARGUMENT,
            'Unknown argument "cellid".',
        ),
        (
            {"cellId": "a", "points": [{"line": 1, "colum": 2}]},
            Code.UNKNOWN_ARGUMENT,
            'Unknown argument "colum" in "points[0]". Accepted arguments: "line", "column". '
            'Did you mean "column"?',
        ),
    ],
)
def test_messages(arguments: Any, code: Code, message: str) -> None:
    error = refused(arguments)
    assert error.code == code
    assert error.message.startswith(message)


def test_an_unknown_argument_is_named_before_a_missing_one() -> None:
    error = refused({"cellID": "a"})
    assert error.code == Code.UNKNOWN_ARGUMENT
    assert 'Did you mean "cellId"?' in error.message


def test_a_name_that_is_part_of_one_is_what_was_meant() -> None:
    async def update(call: object, *, source: str = "", expected_source_hash: str = "") -> None:
        """Update."""

    with pytest.raises(ToolError, match='Did you mean "expectedSourceHash"'):
        Validator(signature(update).schema)({"sourceHash": "0"})


def test_a_tool_without_arguments_says_so() -> None:
    async def nothing(call: object) -> None:
        """Nothing."""

    with pytest.raises(ToolError, match="This tool takes no arguments"):
        Validator(signature(nothing).schema)({"x": 1})

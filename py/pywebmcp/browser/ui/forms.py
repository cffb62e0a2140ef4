"""A form for a tool's input schema, and the arguments that a person entered into it.

Only what `pywebmcp.schema` makes of signatures is known; anything else is entered as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pywebmcp import jsontext
from pywebmcp.browser.ui.elements import Node, button, h, name

Schema = Mapping[str, Any]

_LONG = frozenset({"source", "code", "content", "oldText", "newText", "message"})
"""Arguments of several lines, as a rule; one line would not take a line break."""


class FormError(ValueError):
    """What was entered is no value; the message names the field."""


class Form:
    """What is entered for one tool: by each field's path (``edits.0.oldText``) its text or check."""

    def __init__(self, tool: str, schema: Schema) -> None:
        self.tool = tool
        self._schema = schema
        self._entered: dict[str, str | bool] = {}
        self._rows: dict[str, list[int]] = {}

    def enter(self, path: str, value: str | bool) -> None:
        """A person changed a field."""
        self._entered[path] = value

    def add_row(self, path: str) -> str:
        """One more item of a list; answers the id of its first field."""
        rows = self._rows.setdefault(path, [])
        # A number that no row had: what was entered in one that is gone does not come back.
        number = max(self._rows[path], default=-1) + 1
        rows.append(number)
        return self._id(f"{path}.{number}")

    def remove_row(self, path: str, number: int) -> None:
        """Take an item off a list, with what was entered in it."""
        self._rows[path].remove(number)
        prefix = f"{path}.{number}"
        for each in [*self._entered]:
            if each == prefix or each.startswith(f"{prefix}."):
                del self._entered[each]

    # --- the elements

    def fields(self) -> list[Node]:
        """The fields, the required ones first."""
        required = self._schema.get("required", ())
        properties = self._schema["properties"]
        names = sorted(properties, key=lambda each: each not in required)
        return [self._field(each, each, properties[each], each in required) for each in names]

    def _field(self, path: str, label: str, schema: Schema, required: bool) -> Node:
        kind = schema.get("type")
        if kind == "object" and "properties" in schema:
            return self._group(path, label, schema, required)
        if kind == "array" and schema["items"].get("type") in ("object", "string"):
            return self._list(path, label, schema, required)
        if kind == "boolean":
            return self._choice(path, label, schema, required, ("true", "false"))
        if "enum" in schema:
            return self._choice(path, label, schema, required, schema["enum"])
        return self._text(path, label, schema, required)

    def _text(self, path: str, label: str, schema: Schema, required: bool) -> Node:
        kind = schema.get("type")
        common: dict[str, Any] = self._common(path, schema, required)
        common |= {"value": str(self._entered.get(path, "")), "autocomplete": "off"}
        if kind in ("integer", "number"):
            step = "1" if kind == "integer" else "any"
            least = None if "minimum" not in schema else str(schema["minimum"])
            field = h("input", type="number", step=step, min=least, **common)
        elif kind == "string" and label not in _LONG:
            field = h("input", type="text", spellcheck="false", **common)
        elif kind in ("string", ["string", "integer"]):
            rows = "2" if label.endswith("Text") else "4" if kind == "string" else "1"
            field = h("textarea", rows=rows, spellcheck="false", **common)
        else:
            field = h("textarea", rows="3", spellcheck="false", placeholder="JSON", **common)
        return self._labelled(path, label, schema, required, field)

    def _choice(self, path: str, label: str, schema: Schema, required: bool, values: Any) -> Node:
        chosen = str(self._entered.get(path, ""))
        options = [h("option", "", value=""), *(h("option", each, value=each) for each in values)]
        field = h("select", options, value=chosen, **self._common(path, schema, required))
        return self._labelled(path, label, schema, required, field)

    def _common(self, path: str, schema: Schema, required: bool) -> dict[str, Any]:
        """What every field has; a select tells its change only as ``change``."""
        report = ["enter", self.tool, path]
        return {
            "id": self._id(path),
            "on": {"input": report, "change": report},
            "aria_describedby": self._id(path, "about") if "description" in schema else None,
            "aria_required": "true" if required else None,
        }

    def _labelled(self, path: str, label: str, schema: Schema, required: bool, field: Node) -> Node:
        return h(
            "div",
            h("label", label, *_mark(required), for_=self._id(path)),
            field,
            self._about(path, schema),
            cls="pywebmcp-field",
            key=path,
        )

    def _group(self, path: str, label: str, schema: Schema, required: bool) -> Node:
        inside = schema.get("required", ())
        fields = [
            self._field(f"{path}.{each}", each, part, required and each in inside)
            for each, part in schema["properties"].items()
        ]
        return h(
            "fieldset",
            h("legend", label, *_mark(required)),
            self._about(path, schema),
            fields,
            cls="pywebmcp-group",
            key=path,
        )

    def _list(self, path: str, label: str, schema: Schema, required: bool) -> Node:
        item = schema["items"]
        rows = [
            h(
                "div",
                self._field(f"{path}.{number}", f"{label} {place}", item, True),
                button(
                    "Remove",
                    ["remove_row", self.tool, path, number],
                    aria_label=f"Remove {label} {place}",
                ),
                cls="pywebmcp-row",
                key=f"{path}.{number}",
            )
            for place, number in enumerate(self._rows.get(path, ()), 1)
        ]
        return h(
            "fieldset",
            h("legend", label, *_mark(required)),
            self._about(path, schema),
            rows,
            button("Add", ["add_row", self.tool, path], aria_label=f"Add to {label}"),
            cls="pywebmcp-group",
            key=path,
        )

    def _about(self, path: str, schema: Schema) -> Node | None:
        text = schema.get("description")
        return h("div", text, cls="pywebmcp-hint", id=self._id(path, "about")) if text else None

    def _id(self, *parts: str) -> str:
        return name("tool", self.tool, *parts)

    # --- the arguments

    def arguments(self) -> dict[str, Any]:
        """What was entered, as the tool takes it; empty fields are left out.

        What is missing or out of bounds is the tool's to say. Raises `FormError` for a text that is
        neither a number nor JSON where that is wanted.
        """
        return self._members("", self._schema) or {}

    def _members(self, path: str, schema: Schema) -> dict[str, Any] | None:
        found = {}
        for each, part in schema["properties"].items():
            value = self._value(f"{path}.{each}" if path else each, part)
            if value is not None:
                found[each] = value
        return found or None

    def _value(self, path: str, schema: Schema) -> Any:
        kind = schema.get("type")
        if kind == "object" and "properties" in schema:
            return self._members(path, schema)
        if kind == "array" and schema["items"].get("type") in ("object", "string"):
            empty: Any = "" if schema["items"]["type"] == "string" else {}
            rows = [f"{path}.{number}" for number in self._rows.get(path, ())]
            values = [self._value(row, schema["items"]) for row in rows]
            return [empty if value is None else value for value in values] or None
        text = str(self._entered.get(path, ""))
        if text == "":
            # The text that replaces another may well be empty.
            return "" if path.endswith(".newText") else None
        return _parsed(path, text, kind)


def _parsed(path: str, text: str, kind: Any) -> Any:
    if kind == "string":
        return text
    if kind == "boolean":
        return text == "true"
    if isinstance(kind, list):
        return int(text) if text.strip().isdecimal() else text
    try:
        return jsontext.loads(text)
    except ValueError as error:
        raise FormError(f"{path} is no JSON: {error}.") from None


def _mark(required: bool) -> list[Node]:
    # The space is for those who hear the name.
    return [" ", h("span", "required", cls="pywebmcp-required")] if required else []


def pretty(value: Any) -> str:
    """JSON for a person to read."""
    return json.dumps(jsontext.plain(value), indent=2, ensure_ascii=False)

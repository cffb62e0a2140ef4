"""Generates the larger demo files: a year of made-up bike counts and a notebook of 1,000 cells.

Deterministic on every Python: of `random` only the generator's own `random()` is used, whose
sequence Python promises for a seed, and outputs come from running the cells here.
"""

from __future__ import annotations

import ast
import contextlib
import datetime
import io
import json
import math
import random
from typing import Any

KERNELSPEC = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}

# --- the CSV

YEAR = 2025
MISSING_DAYS = {18, 19, 121, 200, 201, 202, 310}
NO_WEATHER_DAYS = {64, 249}
# A fault of the counter: a Tuesday in March with some 20 times the people of the days around it.
OUTLIER_DAY = 76


def bike_counts() -> str:
    """365 days of a bike counter: date, riders in two directions, temperature (°C), rain (mm).

    Empty where the counter or the weather station gave nothing; one day is an obvious outlier.
    """
    rng = random.Random(YEAR)
    lines = ["date,northbound,southbound,temperature_c,rain_mm"]
    for number in range(365):
        day = datetime.date(YEAR, 1, 1) + datetime.timedelta(days=number)
        season = -math.cos(2 * math.pi * (number - 15) / 365)
        temperature = round(11 + 9.5 * season + 5 * (rng.random() - 0.5), 1)
        rain = round(14 * rng.random() ** 2, 1) if rng.random() < 0.34 else 0.0
        riders = 900 + 420 * season + 9 * temperature - 26 * rain + 120 * (rng.random() - 0.5)
        if day.weekday() >= 5:
            riders *= 0.62
        north = max(40, round(riders * (0.94 + 0.1 * rng.random())))
        south = max(40, round(riders * (0.9 + 0.1 * rng.random())))
        if number == OUTLIER_DAY:
            north *= 20
        counts = ["", ""] if number in MISSING_DAYS else [str(north), str(south)]
        weather = ["", ""] if number in NO_WEATHER_DAYS else [str(temperature), str(rain)]
        lines.append(",".join([day.isoformat(), *counts, *weather]))
    return "\n".join(lines) + "\n"


# --- the notebook of 1,000 cells

STATIONS = 124
FAULTY_STATION = 87
REGIONS = ("Harbour", "Old Mill", "North Ridge", "Lakeside", "Airfield", "Vineyard", "Quarry")

SETUP = '''\
class Table:
    """Rows shown as an HTML table."""

    def __init__(self, rows):
        self.rows = rows

    def __repr__(self):
        return "\\n".join("  ".join(map(str, row)) for row in self.rows)

    def _repr_html_(self):
        rows = ("".join(f"<td>{value}</td>" for value in row) for row in self.rows)
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"'''

# What the Pyodide kernel shows for the cell that fails, colours included.
TRACEBACK = [
    "\x1b[31m---------------------------------------------------------------------------\x1b[39m",
    "\x1b[31mNameError\x1b[39m                                 Traceback (most recent call last)",
    "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[6]\x1b[39m\x1b[32m, line 2\x1b[39m\n"
    "\x1b[32m      1\x1b[39m readings = [\x1b[32m13.0\x1b[39m, \x1b[32m17.1\x1b[39m, \x1b[32m12.9\x1b[39m, \x1b[32m14.4\x1b[39m, \x1b[32m12.0\x1b[39m, \x1b[32m12.5\x1b[39m, \x1b[32m14.8\x1b[39m]\n"
    "\x1b[32m----> \x1b[39m\x1b[32m2\x1b[39m mean = \x1b[38;5;28msum\x1b[39m(readings) / \x1b[38;5;28mlen\x1b[39m(\x1b[43mreading\x1b[49m)\n"
    '\x1b[32m      3\x1b[39m \x1b[38;5;28mprint\x1b[39m(\x1b[33mf\x1b[39m\x1b[33m"\x1b[39m\x1b[33mstation 87: mean \x1b[39m\x1b[38;5;132;01m{\x1b[39;00mmean\x1b[38;5;132;01m:\x1b[39;00m\x1b[33m.2f\x1b[39m\x1b[38;5;132;01m}\x1b[39;00m\x1b[33m °C\x1b[39m\x1b[33m"\x1b[39m)\n',
    "\x1b[31mNameError\x1b[39m: name 'reading' is not defined",
]


def long_notebook() -> str:
    """A notebook of 1,000 cells with readable ids and saved outputs, of which one is an error."""
    rng = random.Random(1000)
    cells = [
        _markdown("title", "# Weather stations, one by one"),
        _markdown(
            "about",
            f"Daily means of {STATIONS} stations. The stations and their readings are made up.\n\n"
            "A long notebook to find one's way in: 1,000 cells, of which one fails.",
        ),
        _markdown("setup-heading", "## Setup"),
        _code("setup", SETUP),
    ]
    for number in range(1, STATIONS + 1):
        cells += _station(number, rng)
    cells += [
        _markdown("summary-heading", "## Summary"),
        _code("summary-count", f"stations = range(1, {STATIONS} + 1)\nlen(stations)"),
        _code("summary-regions", f"regions = {', '.join(map(repr, REGIONS))}\nsorted(regions)"),
        _markdown("end", "The end."),
    ]
    _run(cells)
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    # The form in which Jupyter saves.
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _station(number: int, rng: random.Random) -> list[dict[str, Any]]:
    name, region = f"s{number:03}", REGIONS[number % len(REGIONS)]
    base = 8 + 10 * rng.random()
    readings = [round(base + 6 * (rng.random() - 0.5), 1) for _ in range(7)]
    count = "len(reading)" if number == FAULTY_STATION else "len(readings)"
    return [
        _markdown(f"{name}-heading", f"## Station {number}: {region} {1 + number // len(REGIONS)}"),
        _markdown(
            f"{name}-about", f"One week at a height of {round(900 * rng.random())} m, in °C."
        ),
        _code(
            f"{name}-mean",
            f"readings = {readings}\nmean = sum(readings) / {count}\n"
            f'print(f"station {number}: mean {{mean:.2f}} °C")',
        ),
        _code(f"{name}-range", "round(max(readings) - min(readings), 1)"),
        _markdown(f"{name}-days-heading", "Day by day:"),
        _code(
            f"{name}-days",
            'Table([("day", "°C"), *enumerate(readings, start=1)])',
        ),
        _code(
            f"{name}-warm",
            "for day, value in enumerate(readings, start=1):\n"
            f"    if value > {round(base + 1, 1)}:\n"
            '        print(f"day {day}: {value} °C is warm for this place")',
        ),
        _markdown(f"{name}-end", f"*Station {number} has been checked.*"),
    ]


def _markdown(cell_id: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": _lines(source)}


def _code(cell_id: str, source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell_id,
        "metadata": {},
        "outputs": [],
        "source": _lines(source),
    }


def _lines(text: str) -> list[str]:
    """A multi-line string as nbformat keeps it on disk."""
    return text.splitlines(keepends=True)


def _run(cells: list[dict[str, Any]]) -> None:
    """Run the code cells in order and keep counts and outputs in them, as Jupyter would."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in cells:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = _outputs("".join(cell["source"]), namespace, count)


def _outputs(source: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "<cell>", "exec"), namespace)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    except NameError as error:
        # The one cell that is meant to fail. The kernel's `ename` is the class in brackets.
        traceback = [line.replace("In[6]", f"In[{count}]") for line in TRACEBACK]
        return [
            {
                "ename": "<class 'NameError'>",
                "evalue": str(error),
                "output_type": "error",
                "traceback": traceback,
            }
        ]
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = _lines(printed.getvalue())
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        outputs.append(
            {
                "data": data,
                "execution_count": count,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs

"""The front end in memory keeps the contract that the browser's keeps."""

from __future__ import annotations

import asyncio
from typing import Any

import contract
import pytest
from pywebmcp.frontend import Frontend
from pywebmcp.testing import MemoryFrontend


class Adapter:
    """The person in memory, as the contract wants a person."""

    def __init__(self) -> None:
        self.frontend = MemoryFrontend()
        self.runs: list[asyncio.Task[Any]] = []

    @property
    def person(self) -> Any:
        return self.frontend.person

    async def click(self, path: str, index: int, cursor: int) -> None:
        self.person.open(path)
        self.person.click(index, cursor)

    async def type(self, text: str) -> None:
        current = self.frontend.notebook()
        assert current is not None
        if current.mode == "edit":
            for key in text:
                self.person.type(key)

    async def undo(self) -> None:
        self.person.undo()

    async def edit_file(self, path: str, content: Any) -> None:
        self.person.edit_file(path, content)

    async def rename(self, old: str, new: str) -> None:
        self.person.rename(old, new)

    async def close(self, path: str) -> None:
        self.person.close(path)

    async def answer(self, path: str, text: str) -> None:
        self.person.answer(text, path=path)

    async def start_run(self, path: str, index: int) -> None:
        self.runs.append(self.person.start_run(index, path=path))


KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "slow-interruptible": {"start_after": 9, "restart_after": 14, "can_interrupt": True},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", contract.cases(), ids=lambda case: case.name)
async def test_contract(case: contract.Case, kind: str) -> None:
    adapter = Adapter()

    async def provide(files: contract.Files) -> Frontend:
        adapter.frontend = MemoryFrontend(files, **KINDS[kind])
        return adapter.frontend

    try:
        await contract.run_case(case, provide, adapter)
    except contract.Skipped as why:
        pytest.skip(str(why))


async def test_a_case_is_skipped_without_the_person_it_needs() -> None:
    async def provide(files: contract.Files) -> Frontend:
        return MemoryFrontend(files)

    (case,) = (case for case in contract.cases() if "rename" in case.needs)
    with pytest.raises(contract.Skipped):
        await contract.run_case(case, provide)

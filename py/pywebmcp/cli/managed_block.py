"""Lines of ours in a text file of someone else's, between two markers. All other bytes stay as they
are: what is put in can be taken out again without a trace.
"""

from __future__ import annotations

BEGIN = b"# >>> pywebmcp: managed by `pywebmcp setup`, changes here are lost >>>"
END = b"# <<< pywebmcp <<<"


class BrokenBlockError(ValueError):
    """The markers are not one pair: what belongs to us cannot be told."""


def put(content: bytes, lines: list[bytes]) -> bytes:
    """The content with these lines as the block: in its place, or at the end.

    Raises:
        BrokenBlockError: when there are other markers than one pair.
    """
    place = _find(content)
    if place is not None:
        start, end, newline = place
        return content[:start] + newline.join([BEGIN, *lines, END]) + content[end:]
    newline = b"\r\n" if b"\r\n" in content else b"\n"
    block = newline.join([BEGIN, *lines, END])
    # A last line without an end keeps having none: the block has it in its place, and `take`
    # knows by that what to take along.
    if content and not content.endswith(b"\n"):
        return content + newline + block
    return content + block + newline


def take(content: bytes) -> bytes:
    """The content without the block; the same when it has none.

    Raises:
        BrokenBlockError: as `put`.
    """
    place = _find(content)
    if place is None:
        return content
    start, end, newline = place
    before, after = content[:start], content[end:]
    if after.startswith(newline):
        return before + after.removeprefix(newline)
    return before + after if after else before.removesuffix(newline)


def _find(content: bytes) -> tuple[int, int, bytes] | None:
    """Where the block is, without the end of its last line; and how its lines end."""
    starts, ends = [], []
    newline = b"\n"
    position = 0
    for line in content.split(b"\n"):
        bare = line.removesuffix(b"\r")
        if bare == BEGIN:
            starts.append(position)
            newline = b"\n" if bare == line else b"\r\n"
        elif bare == END:
            ends.append(position + len(bare))
        position += len(line) + 1
    if not starts and not ends:
        return None
    if len(starts) != 1 or len(ends) != 1 or starts[0] > ends[0]:
        raise BrokenBlockError("its lines of pywebmcp are not between one pair of markers")
    return starts[0], ends[0], newline

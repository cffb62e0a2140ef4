"""Comment signs that a script carries only because its lines are no Python: IPython's magics and
shell commands, and whole cells in other languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Which lines these are was found out by having jupytext write them.
_commented_magic = re.compile(
    r"""
    ^ (?P<indent>[^\S\n]*) \#\x20 (?P<rest>
        (?:\#\x20?)*+                                  # comments on a magic are escaped like it
        (?: %{1,3}[A-Za-z]                             # %time
          | [!?]\s*[A-Za-z.~$\\/{}]                    # !ls, ?name
          | \S*\?{1,2}[^\S\n]*$                        # name?
          | [A-Za-z_][\w.]*\s*=\s*(?:%{1,3}|!)\s*[A-Za-z.~$\\/{}]          # x = !ls
          | (?:cat|cd|copy|cp|ddir|echo|ldir|ls|mkdir|mv|ren|rm|rmdir)     # automagic
            (?:[^\S\n]+(?!=)|$)
        ) )
    """,
    re.VERBOSE | re.MULTILINE,
)


def uncommented(code: str) -> str:
    """Code as a notebook has it: one comment sign less before every magic and command."""
    return _commented_magic.sub(r"\g<indent>\g<rest>", code)


def without_comment_signs(lines: Iterable[str]) -> list[str]:
    """Lines without the comment sign, and the blank after it, that they begin with."""
    return [
        line[2:] if line.startswith("# ") else line[1:] if line.startswith("#") else line
        for line in lines
    ]

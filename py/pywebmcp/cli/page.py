"""What the commands share that drive a page: which one, in which browser, and what can go wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from pywebmcp.cli.errors import CommandError
from pywebmcp.tasks.loading import VARIABLE


def page_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which page; the command gets them as ``target``."""
    from pywebmcp.bridge.chromium import has_display
    from pywebmcp.bridge.target import Target

    @wraps(command)
    def run(
        *args: Any,
        url: str | None,
        site: Path | None,
        cdp: str | None,
        headless: bool | None,
        isolated: bool,
        port: int | None,
        **named: Any,
    ) -> Any:
        if url and site:
            raise click.UsageError("Give --url or --site, not both.")
        target = Target(
            url=url,
            site=site,
            cdp=cdp,
            headless=not has_display() if headless is None else headless,
            isolated=isolated,
            port=port,
            store=os.environ.get(VARIABLE, "").strip() or None,
        )
        return command(*args, target=target, **named)

    options = [
        click.option("--url", envvar="PYWEBMCP_URL", help="The address of the page."),
        click.option(
            "--site",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            help="A folder with a built JupyterLite site, which is served.",
        ),
        click.option(
            "--cdp",
            envvar="PYWEBMCP_CDP",
            help="Use the browser whose DevTools are at this address, such as "
            "http://127.0.0.1:9222, and leave it open. Without --url and --site: the tab that shows "
            "such a page.",
        ),
        click.option(
            "--headless/--headed",
            default=None,
            help="Without or with a window. [default: with one where there is a display]",
        ),
        click.option(
            "--isolated",
            is_flag=True,
            help="A browser that keeps nothing. Without this, what is in the page is there again "
            "the next time.",
        ),
        click.option(
            "--port", type=click.IntRange(0, 65535), help="At which --site is served; 0: any."
        ),
    ]
    for option in reversed(options):
        run = option(run)
    return run


def demand(target: Any) -> None:
    """Raise ``click.UsageError`` where no page is named."""
    if not (target.url or target.site or target.cdp):
        raise click.UsageError("Name the page: --url URL, --site DIR, or --cdp URL of a browser.")


@contextmanager
def bridge_errors() -> Iterator[None]:
    """Errors of the bridge as the command's; what the person set up wrongly ends with 2."""
    from pywebmcp.bridge.errors import BridgeError, UsageError

    try:
        yield
    except UsageError as error:
        raise click.UsageError(str(error)) from None
    except BridgeError as error:
        raise CommandError("PAGE_UNAVAILABLE", str(error)) from None

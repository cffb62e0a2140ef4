"""A measured page: a system's site with a notebook open, and the stopwatch around its tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from _bench.probe import PROBE
from _bench.systems import Call, CallFailedError, Payload, System

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession
    from playwright.sync_api import Page as BrowserPage

# Milliseconds; far above what any call or load takes on a loaded machine.
CALL_LIMIT = 120_000
LOAD_LIMIT = 90_000
# JupyterLab renders a notebook's cells one by one when it is idle, 1,000 of them in minutes.
RENDER_LIMIT = 900_000


@dataclass(frozen=True, slots=True)
class Sample:
    """What a job cost: its calls' wall time as the page's own clock shows it, the main thread's CPU
    time until the page was quiet again (both in milliseconds), and the characters of the answers.
    """

    ms: float
    cpu: float
    characters: int
    calls: int = 1


class Tab:
    """A page in a browser context of its own: no cache, storage or renderer is shared."""

    def __init__(self, browser: Browser, system: System, site_url: str) -> None:
        """Open an empty page; `site_url` ends with a slash."""
        self.system = system
        self._url = site_url
        self._context = browser.new_context(viewport={"width": 1280, "height": 900})
        self._page: BrowserPage = self._context.new_page()
        self._page.set_default_timeout(LOAD_LIMIT)
        self._page.add_init_script(PROBE)
        self._cdp: CDPSession = self._context.new_cdp_session(self._page)
        # Thread time: what other processes take from the machine does not count.
        self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})

    def close(self) -> None:
        """Close the page and forget its storage."""
        self._context.close()

    def load(self, path: str) -> Sample:
        """Load the site with a notebook until all tools are there; raises CallFailedError otherwise."""
        count = self.system.tool_count
        self._page.goto(f"{self._url}lab/index.html?path={path}", wait_until="commit")
        if not self._wait("count => globalThis.probe?.loadedAt(count)", count, LOAD_LIMIT):
            there = self.evaluate("() => globalThis.probe?.toolCount()") or 0
            raise CallFailedError(f"{there} of {count} tools after {LOAD_LIMIT // 1000} s")
        return Sample(
            ms=self.evaluate("count => probe.loadedAt(count)", count),
            cpu=self._cpu(),
            characters=len(self.evaluate("() => probe.descriptors()")),
        )

    def prepare(self, path: str) -> None:
        """After `load`: wait for the notebook and its kernel, and have the kernel run once;
        raises CallFailedError if the page does not get there.

        The notebook is complete when all its cells are rendered. JupyterLab does that in the
        background for minutes, with blocks of a tenth of a second that would hit calls at random.
        """
        if not self._wait("path => probe.isOpen(path)", path, RENDER_LIMIT):
            raise CallFailedError(f"{path} is not ready after {RENDER_LIMIT // 1000} s")
        self.evaluate("path => probe.warmKernel(path)", path)
        self.evaluate("() => probe.stopAutosave()")
        self.quiet()

    def call(self, call: Call) -> tuple[Payload, Sample]:
        """Call a tool and wait until the page is quiet; raises CallFailedError."""
        before = self._cpu()
        answer = self.evaluate(
            "([name, input, limit]) => probe.call(name, input, limit)",
            [call.tool, call.arguments, CALL_LIMIT],
        )
        if "error" in answer:
            raise CallFailedError(f"{call.tool}: {answer['error']}")
        self.quiet()
        cpu = self._cpu() - before
        payload = self.system.payload(answer["text"])
        return payload, Sample(answer["ms"], cpu, len(answer["text"]))

    def work(self, code: str, argument: Any) -> tuple[Any, float]:
        """Run a function of the page; what it answers, and the CPU time until the page is quiet."""
        before = self._cpu()
        answer = self.evaluate(code, argument)
        self.quiet()
        return answer, self._cpu() - before

    def quiet(self) -> None:
        """Wait until the page's main thread has nothing to do."""
        self.evaluate("() => probe.quiet()")

    def evaluate(self, code: str, argument: Any = None) -> Any:
        """Run a function of the page."""
        return self._page.evaluate(code, argument)

    def to_front(self) -> None:
        """Make the page the visible one: a hidden page does not render."""
        self._page.bring_to_front()

    def _wait(self, condition: str, argument: Any, limit: int) -> bool:
        """Whether a function of the page comes true within so many milliseconds."""
        from playwright.sync_api import TimeoutError as PageTimeoutError

        try:
            # Seldom enough that asking costs the page nothing; the page itself notes its times.
            self._page.wait_for_function(condition, arg=argument, polling=100, timeout=limit)
        except PageTimeoutError:
            return False
        return True

    def _cpu(self) -> float:
        metrics = self._cdp.send("Performance.getMetrics")["metrics"]
        seconds = next(each["value"] for each in metrics if each["name"] == "TaskDuration")
        return float(seconds) * 1000

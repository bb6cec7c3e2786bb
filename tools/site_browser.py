"""Checks of the built site in a browser: pages in light and dark, the search, and copied code.

Needs the package playwright and Chromium. `check` is the start; it writes pictures of the pages.
"""

import functools
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

PAGES = (
    "index",
    "get_started",
    "shaping_gradients",
    "benchmarks",
    "gallery",
    "gallery/gan",
    "reference",
    "reference/pullback/index",
    "reference/pullback/custom",
    "reference/pullback/tensor",
    "internals/plan",
)
SEARCHED = "custom_gradient"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on a free port of this machine; return its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def check(html: Path, pictures: Path) -> list[str]:
    """Return the problems; write the pictures of all pages in light and dark into a folder."""
    pictures.mkdir(exist_ok=True)
    with served(html) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        problems = []
        for scheme in ("light", "dark"):
            for width in (1400, 420):
                problems += check_pages(browser, address, pictures, scheme, width)
        return problems + check_search(browser, address, pictures) + check_copy(browser, address)


def opened(browser: Browser, problems: list[str], scheme: str = "light", width: int = 1400) -> Page:
    """Return a new page whose errors are added to the problems."""
    context = browser.new_context(
        color_scheme=scheme,
        viewport={"width": width, "height": 1000},
        permissions=["clipboard-read", "clipboard-write"],
    )
    page = context.new_page()
    page.on("console", lambda m: m.type == "error" and problems.append(f"console: {m.text}"))
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("requestfailed", lambda request: problems.append(f"not loaded: {request.url}"))
    return page


def check_pages(
    browser: Browser, address: str, pictures: Path, scheme: str, width: int
) -> list[str]:
    problems: list[str] = []
    page = opened(browser, problems, scheme, width)
    for name in PAGES:
        before = len(problems)
        page.goto(f"{address}/{name}.html", wait_until="networkidle")
        theme = page.evaluate("document.documentElement.dataset.theme")
        if theme != scheme:
            problems.append(f"theme {theme}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            problems.append(f"{wide} pixels wide")
        page.screenshot(path=pictures / f"{name.replace('/', '_')}-{scheme}-{width}.png")
        problems[before:] = [f"{name}, {scheme}, {width}: {text}" for text in problems[before:]]
    page.context.close()
    return problems


def check_search(browser: Browser, address: str, pictures: Path) -> list[str]:
    problems: list[str] = []
    page = opened(browser, problems)
    page.goto(f"{address}/search.html?q={SEARCHED}", wait_until="networkidle")
    results = page.locator("#search-results li a")
    results.first.wait_for(timeout=10_000)
    page.screenshot(path=pictures / "search-light-1400.png")
    targets = [str(link.get_attribute("href")) for link in results.all()]
    wanted = f"reference/pullback/custom.html#pullback.{SEARCHED}"
    if not any(wanted in target for target in targets[:3]):
        problems.append(f"search: {wanted} is not among the first of {targets[:10]}")
    page.context.close()
    return problems


def check_copy(browser: Browser, address: str) -> list[str]:
    problems: list[str] = []
    page = opened(browser, problems)
    page.goto(f"{address}/index.html", wait_until="networkidle")
    code = page.locator("div.highlight", has_text="pb.grad").first
    code.hover()
    code.locator("button.copybtn").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    if copied.strip() != "import pullback as pb\npb.grad(pb.grad(pb.sin))(1.0)":
        problems.append(f"copied: {copied!r}")
    page.context.close()
    return problems

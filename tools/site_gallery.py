"""The gallery of the documentation site: a page for each program of examples/.

docs/gallery.md lists the programs with their titles. A program has `main()`, whose output is shown,
and may have `plot(figure, result)`, which draws the result of `main` on a figure of Matplotlib.
"""

import ast
import contextlib
import hashlib
import io
import os
import re
import runpy
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pullback as pb

ENTRY = re.compile(r"^(.+) <gallery/(\w+)>$", re.M)
GROUP = re.compile(r"^```\{toctree\}\n.*?^```\n", re.M | re.S)
NOT_RUN = {"tf1_mnist_softmax"}  # it requires the path of the full MNIST set


def write_pages(examples: Path, source: Path, cache: Path) -> int:
    """Run all programs, write their pages and the overview; return the number of pictures."""
    overview = source / "gallery.md"
    text = overview.read_text(encoding="utf-8")
    titles = {name: title for title, name in ENTRY.findall(text)}
    paths = sorted(examples.glob("*.py"))
    unlisted = {path.stem for path in paths} ^ titles.keys()
    if unlisted:
        raise SystemExit(f"docs/gallery.md: {sorted(unlisted)} are not in both places")
    pictures = source / "_static" / "gallery"
    pictures.mkdir(parents=True)
    cache.mkdir(exist_ok=True)
    digest = hashlib.sha256()
    for path in sorted(Path(pb.__file__).parent.rglob("*")):
        if path.suffix in (".py", ".so"):
            digest.update(path.read_bytes())
    # A process for each program: some change settings of the process.
    spawn = get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), spawn, max_tasks_per_child=1) as workers:
        results = workers.map(partial(run, cache=cache, version=digest.digest()), paths)
        outputs = {path.stem: result for path, result in zip(paths, results, strict=True)}
    drawn = {}
    (source / "gallery").mkdir()
    for path in paths:
        output, picture = outputs[path.stem]
        if picture:
            drawn[path.stem] = pictures / f"{path.stem}.png"
            drawn[path.stem].write_bytes(picture)
        page = page_of(path, titles[path.stem], output, bool(picture))
        (source / "gallery" / f"{path.stem}.md").write_text(page, encoding="utf-8")
    overview.write_text(GROUP.sub(lambda m: with_cards(m[0], drawn), text), encoding="utf-8")
    return len(drawn)


def run(path: Path, cache: Path, version: bytes) -> tuple[str, bytes]:
    """Return the output and the picture of a program, stored for each version of both."""
    if path.stem in NOT_RUN:
        return "", b""
    key = hashlib.sha256(path.read_bytes() + version).hexdigest()[:16]
    stored = cache / f"{path.stem}-{key}.txt"
    picture = stored.with_suffix(".png")
    if not stored.exists():
        from matplotlib.figure import Figure

        output = io.StringIO()
        picture.write_bytes(b"")
        with contextlib.redirect_stdout(output):
            if "\ndef plot(" in path.read_text(encoding="utf-8"):
                program = runpy.run_path(str(path))
                figure = Figure(figsize=(7.5, 3.2), layout="constrained")
                program["plot"](figure, program["main"]())
                figure.savefig(picture, dpi=130)
            else:
                runpy.run_path(str(path), run_name="__main__")
        stored.write_text(output.getvalue(), encoding="utf-8")
    return stored.read_text(encoding="utf-8"), picture.read_bytes()


def page_of(path: Path, title: str, output: str, picture: bool) -> str:
    """Return the page of a program."""
    code = path.read_text(encoding="utf-8")
    tree = ast.parse(code)
    text, _, command = (ast.get_docstring(tree) or "").rpartition("\n\npython ")
    parts = [f"# {title}", text]
    if picture:
        parts.append(f"![{title}](../_static/gallery/{path.stem}.png)")
    body = "\n".join(code.split("\n")[tree.body[0].end_lineno :]).strip()
    parts.append(f"```python\n{body}\n```")
    parts.append("```sh\npython " + " ".join(command.split("   ")[:1]) + "\n```")
    if output:
        parts.append(f"```text\n{output.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def with_cards(group: str, drawn: dict[str, Path]) -> str:
    """Return a list of pages, with a card for each: its picture and its title."""
    cards = []
    for title, name in ENTRY.findall(group):
        picture = f'<img src="_static/gallery/{name}.png" alt="">' if name in drawn else ""
        cards.append(f'<a href="gallery/{name}.html">{picture}<span>{title}</span></a>')
    hidden = group.replace("{toctree}\n", "{toctree}\n:hidden:\n")
    return f'{hidden}\n<div class="gallery">{"".join(cards)}</div>\n'

"""The pages: links lead somewhere; files, types, functions and passes that a page names exist; and
the glossary stays short and names the owner of each term, which uses the term."""

from __future__ import annotations

import re
import warnings
from functools import reduce
from pathlib import Path

from support.each import each

import pullback as pb

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A path of the tree in code: `cpp/plan/plan.h`, `tests/support/table`, `cpp/grad/`.
TOP = "bench|cpp|docs|examples|python|tests|tools"
NAMED = re.compile(rf"`((?:{TOP})/[\w./-]+)`")
# A file without its folder, or with a part of it: `graph.h`, `_numpy/logic.py`.
SHORT = re.compile(r"`((?:[\w-]+/)*[\w-]+\.(?:h|cpp|def|py))`")
ELSEWHERE = {"Python.h"}
# A link whose label is a file.
LABEL = re.compile(r"\[`([\w./-]+\.(?:h|cpp|def|py|md))`\]\(([^)\s]+)\)")
# A file of cpp/ in a comment: ops/body.cpp, graph/op.h.
FOLDERS = "|".join(path.name for path in sorted((ROOT / "cpp").iterdir()) if path.is_dir())
COMMENTED = re.compile(rf"//.*?(?<![\w/.])((?:{FOLDERS})/[\w/]+\.(?:h|cpp|def))\b")
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
PUBLIC = re.compile(r"\bpb\.([\w.]*\w)")
# Pages for developers, and words in code on them that are no names of the sources.
FOR_DEVELOPERS = [
    *(ROOT / "docs" / name for name in ("architecture.md", "extending.md", "glossary.md")),
    *sorted((ROOT / "docs" / "internals").glob("*.md")),
]
EXAMPLES = {"name_vjp"}
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
# A row of a table of types: the types, the file of each, the purpose.
TYPES = re.compile(r"^\| (`.+?) \| (.*\.(?:h|py|cpp).*?) \| .+ \|$", re.MULTILINE)
# The first column of a table.
FIRST_COLUMN = re.compile(r"^\| (`.+?) \|", re.MULTILINE)
# Pages with a section on the folders of a place, and which folders it lists.
FOLDER_PAGES = {
    "architecture.md": "cpp/[a-z]*",
    "internals/backend_cpu.md": "cpp/backend/cpu/[a-z]*",
    "internals/bind.md": "cpp/bind/[a-z]*",
    "internals/tf1.md": "python/pullback/compat/tf1/_[a-z]*",
}
TERM = re.compile(r"^\| \*\*(.+?)\*\* \| (.+) \| (.+) \|$", re.MULTILINE)
MOST_TERMS = 40
MOST_LINES = 120


def text_of(page: Path) -> str:
    return CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to headings."""
    headings = HEADING.findall(text_of(page))
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


@each("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    missing = []
    for link in LINK.findall(text_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(link)
    assert not missing


@each("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_paths_that_are_named_exist(page: Path) -> None:
    named = NAMED.findall(text_of(page))
    missing = [name for name in named if not (ROOT / name).exists()]
    assert not missing


@each("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_labels_are_the_names_of_their_files(page: Path) -> None:
    labels = LABEL.findall(text_of(page))
    wrong = [pair for pair in labels if Path(pair[0]).name != Path(pair[1]).name]
    assert not wrong


def test_files_that_are_named_without_their_folder_exist() -> None:
    files = [path for top in TOP.split("|") for path in (ROOT / top).rglob("*")]
    known = {f"/{path.relative_to(ROOT).as_posix()}" for path in files if path.is_file()}
    named = [(page.name, name) for page in PAGES for name in SHORT.findall(text_of(page))]
    assert len(named) > 50
    missing = [
        pair
        for pair in named
        if pair[1] not in ELSEWHERE and not any(path.endswith(f"/{pair[1]}") for path in known)
    ]
    assert not missing


def test_files_that_comments_name_exist() -> None:
    sources = [p for p in (ROOT / "cpp").rglob("*") if p.suffix in {".h", ".cpp", ".def"}]
    found = [(p.name, name) for p in sources for name in COMMENTED.findall(p.read_text())]
    assert len(found) > 50
    missing = [pair for pair in found if not (ROOT / "cpp" / pair[1]).is_file()]
    assert not missing


def test_types_are_in_the_files_that_pages_name() -> None:
    pages = sorted((ROOT / "docs" / "internals").glob("*.md"))
    rows = [(page, *row) for page in pages for row in TYPES.findall(text_of(page))]
    assert len(rows) > 60
    missing = []
    for page, types, where in rows:
        paths = [(page.parent / link).resolve() for link in LINK.findall(where)]
        paths += [ROOT / name for name in NAMED.findall(LINK.sub("", where))]
        text = "".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
        names = re.findall(r"`([^`]+)`", types)
        missing += [f"{page.name}: {n}" for n in names if not re.search(rf"\b{n}\b", text)]
    assert not missing


@each("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_public_names_on_pages_exist_and_are_not_deprecated(page: Path) -> None:
    named = {name for code in CODE.findall(text_of(page)) for name in PUBLIC.findall(code)}
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        for name in named:
            reduce(getattr, name.split("."), pb)


def test_names_of_the_sources_on_pages_for_developers_exist() -> None:
    files = [
        path
        for top in TOP.split("|")
        for path in (ROOT / top).rglob("*")
        if path.suffix in {".h", ".cpp", ".def", ".py", ".pyi"}
    ]
    known = {word for path in files for word in re.findall(r"\w+", path.read_text("utf-8"))}
    found = {
        (page.name, word)
        for page in FOR_DEVELOPERS
        for code in CODE.findall(text_of(page))
        if not re.search(rf"\.(?:h|cpp|def|py|md)\b|^(?:{TOP}|grep)\b", code)
        for word in re.findall(r"[a-zA-Z_]\w{2,}", code)
    }
    assert len(found) > 300
    missing = [pair for pair in sorted(found) if pair[1] not in known | EXAMPLES]
    assert not missing


def test_every_pass_of_make_plan_is_listed() -> None:
    cache = (ROOT / "cpp" / "plan" / "passes" / "cache.cpp").read_text("utf-8")
    (body,) = re.findall(r"^[^\n]* make_plan\(const.*?^}", cache, re.MULTILINE | re.DOTALL)
    calls = set(re.findall(r"(\w+)\((?:snapshot|real|analysis|&out->plan)\b", body))
    page = (ROOT / "docs" / "internals" / "plan.md").read_text("utf-8")
    listed = re.findall(r"^\d\. `(\w+)`", page.split("\n## Passes\n")[1], re.MULTILINE)
    assert sorted(calls - {"has_complex"}) == sorted(listed)
    diagram = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("```")[1]
    assert re.findall(rf"\b(?:{'|'.join(listed)})\b", diagram) == listed


def test_tables_of_folders_are_complete() -> None:
    for page, pattern in FOLDER_PAGES.items():
        (section,) = re.findall(
            r"^## Folders$(.*?)^## ", text_of(ROOT / "docs" / page), re.MULTILINE | re.DOTALL
        )
        cells = "".join(FIRST_COLUMN.findall(section))
        listed = {Path(name).name for name in re.findall(r"`([^`]+)`", cells)}
        folders = {path.name for path in ROOT.glob(pattern) if path.is_dir()}
        assert len(folders) > 4
        assert folders <= listed, page


def uses(source: str, term: str, meaning: str) -> bool:
    """Test whether a source uses a term of the glossary, or a type that its meaning names."""
    words = re.sub(r"\n\s*//", "", source).replace("_", " ")
    types = re.findall(r"`([A-Z]\w+)`", meaning)
    return bool(re.search(rf"\b{term}", words, re.IGNORECASE)) or any(
        re.search(rf"\b{name}\b", source) for name in types
    )


def test_the_glossary_names_the_owner_of_each_term() -> None:
    rows = TERM.findall((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    terms = [term for term, _, _ in rows]
    assert 0 < len(terms) <= MOST_TERMS
    assert terms == sorted(terms, key=str.lower)
    assert len(set(terms)) == len(terms)
    for term, meaning, owner in rows:
        paths = re.findall(r"`([\w./-]+)`", owner)
        assert paths, f"{term} has no owner"
        for path in paths:
            assert (ROOT / path).is_file(), f"{term}: {path} does not exist"
            source = (ROOT / path).read_text(encoding="utf-8")
            assert uses(source, term, meaning), f"{path} does not use the term {term}"


def test_pages_for_maintainers_stay_short() -> None:
    pages = [ROOT / "docs" / "architecture.md", *(ROOT / "docs" / "internals").glob("*.md")]
    long = {p.name: n for p in pages if (n := len(p.read_text().splitlines())) > MOST_LINES}
    assert not long

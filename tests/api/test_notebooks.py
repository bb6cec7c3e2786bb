"""HTML of tensors, explanations, plans and profiles: what notebooks show."""

import re
import sys
import warnings
from html import unescape
from types import SimpleNamespace
from xml.dom.minidom import parseString

import numpy as np
import pytest

import pullback as pb
from pullback._autodiff.rules import place
from pullback._base.locations import location

EVIL = "<script>alert('&')</script>"


# The last line of a cell, and the start of what Jupyter shows of it.
SHOWN = {
    "pb.ones((2, 2))": "<div",
    "v": "<div",
    "pb.gradients(y, v)[0]": "<div",
    "pb.explain(y, v)": "<div",
    "pb.gradient_paths(y, v)": "<pre",
    "pb.function(pb.exp).plan(v)": "<pre",
    "pb.draw(y, v)": "<div",
    "pb.profile(pb.exp, v)": "<div",
    "pb.profile(pb.exp, v).flame_graph()": "<div",
    "pb.profile_memory(pb.exp, v.read())": "<div",
}


def cells(html):
    """Return the texts of the cells of a table, row by row; the HTML must be well-formed."""
    parseString(f"<div>{html}</div>")
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [[unescape(c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", r)] for r in rows]


def test_tensors():
    x = pb.constant([[1.5, np.nan], [-1e-8, 3.0]])
    assert cells(x._repr_html_()) == [["", "0", "1"], ["0", "1.5", "nan"], ["1", "-1e-08", "3"]]
    assert "Tensor  float32  shape (2, 2)" in x._repr_html_()
    assert cells(pb.constant([True, False])._repr_html_()) == [["0", "1"], ["True", "False"]]
    assert cells(pb.constant(1 + 2j)._repr_html_()) == [["1+2j"]]
    assert cells(pb.zeros((0, 3))._repr_html_()) == [["", "0", "1", "2"]]
    assert cells(pb.zeros((3, 0))._repr_html_()) == [[""], ["0"], ["1"], ["2"]]
    assert cells(pb.zeros((0, 2, 2))._repr_html_()) == []
    v = pb.Variable(pb.arange(24).reshape(2, 3, 4), name=EVIL)
    html = v._repr_html_()
    assert cells(html)[1] == ["0", "0", "1", "2", "3"] and "entry [0]" in html
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_large_tensors_are_cut():
    html = pb.arange(1_000_000).reshape(1000, 1000)._repr_html_()
    table = cells(html)
    assert len(table) == len(table[0]) == 12
    assert table[0] == ["", "0", "1", "2", "3", "4", "…", "995", "996", "997", "998", "999"]
    assert table[6] == ["…"] * 12
    assert table[11][11] == "999999" and table[1][5] == "4"
    assert len(pb.zeros((4,) * 10)._repr_html_()) < 5000
    assert len(cells(pb.arange(11)._repr_html_())[0]) == 11
    assert len(cells(pb.arange(10)._repr_html_())[0]) == 10


def test_nothing_is_evaluated_or_recorded_that_repr_does_not():
    seen = []

    def f(x):
        seen.append((x * 2)._repr_html_())
        return pb.sum(x)

    pb.function(f)(pb.ones(3))
    pb.vmap(f)(pb.ones((2, 3)))
    pb.scan(lambda c, x: (f(x), None), 0.0, pb.ones((2, 3)))
    assert len(seen) >= 3 and all("traced, without a value" in html for html in seen)
    v = pb.Variable([1.0, 2.0])
    pb.set_debug(True)
    try:
        with warnings.catch_warnings(), pb.GradientTape() as tape:
            warnings.simplefilter("error")  # of values that leave the graph
            v._repr_html_()
            pb.grad(lambda x: (pb.sum(x * x), (x * 2)._repr_html_())[0])(pb.ones(2))
        assert tape.watched_variables() == ()
    finally:
        pb.set_debug(False)


def test_explanations():
    w = pb.Variable([0.5, 2.0], name=EVIL)
    y = pb.sum(pb.round(w))
    why = pb.explain(y, w)
    html = why._repr_html_()
    parseString(html)
    assert "<html" not in html and "<script>" not in html and "round" in html and "<svg" in html
    assert why.as_html().startswith("<!DOCTYPE html>") and html in why.as_html()
    both = pb.explain(y, [w, w])._repr_html_()
    assert both == html * 2
    paths = pb.gradient_paths(pb.sum(w * w) + pb.sum(w), w)
    assert unescape(paths._repr_html_()).count("norm") == len(paths) == 2


def test_plans():
    f = pb.function(lambda x: pb.sum(pb.exp(x) @ x))
    plan = f.plan(pb.ones((20, 20)))
    assert isinstance(plan, str) and plan == str(plan)
    html = plan._repr_html_()
    parseString(f"<div>{html}</div>")
    assert unescape(html).count("exp:float32") == 2 and html.count("<svg") == 1
    many = pb.function(lambda x: [pb.sort(x + i) for i in range(100)])
    assert "<svg" not in many.plan(pb.ones(9))._repr_html_()
    assert pb.draw(plan)._repr_svg_() == pb.draw(str(plan)).svg


def test_wide_pictures_scroll_and_text_is_monospaced():
    v = pb.Variable(pb.ones(3))
    profile = pb.profile(pb.exp, v)
    for drawing in (pb.draw(v * v), profile.flame_graph()):
        html = drawing._repr_html_()
        parseString(html)
        assert html == f'<div style="overflow-x:auto">{drawing.svg}</div>'
    assert profile.flame_graph()._repr_html_() in profile._repr_html_()
    for text in (pb.function(pb.exp).plan(v), pb.gradient_paths(pb.sum(v), v)):
        assert re.match('<pre style="[^"]*font-family:monospace', text._repr_html_())


def test_colours_are_readable_on_light_and_dark_pages():
    w = pb.Variable(pb.ones(3))
    own = w._repr_html_() + pb.function(pb.exp).plan(pb.ones(3))._repr_html_().partition("<svg")[0]
    assert set(re.findall(r"(?:color|background):([^;\"]*)", own)) == {"inherit", "transparent"}
    for svg in (pb.draw(w * w).svg, pb.profile(pb.exp, w).flame_graph().svg):
        assert re.match(r"<svg [^>]*background:#fff", svg)  # its text is black
    why = pb.explain(pb.sum(w), w)._repr_html_()
    assert re.match(r'<div style="[^"]*color:#1f2937;background:#fff', why)


def executed(first, sources, **options):
    """The cells of a notebook that Jupyter has run, without the first."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    cells = [nbformat.v4.new_code_cell(source) for source in (first, *sources)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, kernel_name="python3", **options).execute()
    return notebook.cells[1:]


def test_jupyter_shows_html():
    first = "import pullback as pb\nv = pb.Variable([1.0, 2.0])\ny = pb.sum(v * v)"
    for cell in executed(first, SHOWN):
        (output,) = cell.outputs
        html = output["data"]["text/html"]
        parseString(f"<div>{html}</div>")
        assert html.startswith(SHOWN[cell.source]), cell.source


# Cells whose text output names a line of a cell, and the name that IPython gives to that line.
NAMED = {
    "pb.function(lambda x: float(x))(1.0)": "In[2], line 1",
    "@pb.custom_gradient\ndef f(x):\n    return x, 1\n\nf(v)": "In[3], line 1",
    "pb.set_debug(True)\ny = pb.sum(pb.round(v))\nprint(pb.explain(y, v))": "In[4], line 2",
    "pb.linalg.cholesky(-pb.eye(2)).numpy()": "In[5], line 1",
    "print(pb.draw(y, v).svg)": "In[4], line 2",
    "print(pb.profile(lambda: pb.sum(pb.exp(v) @ pb.ones((2, 2)))))": "In[7], line 1",
}


def test_lines_of_cells_are_named_as_in_ipython(monkeypatch):
    class Shell:
        class compile:  # noqa: N801
            format_code_name = {"/cells/12.py": ("Cell", "In[3]")}.get

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: Shell))
    scope = {"pb": pb}
    exec(compile("\ndef f(x):\n    return float(x)", "/cells/12.py", "exec"), scope)
    with pytest.raises(RuntimeError, match=r"\(Cell In\[3\], line 3\): "):
        pb.function(scope["f"])(1.0)
    assert place(scope["f"]) == "f (Cell In[3], line 2)"
    Shell.compile.format_code_name = {"/cells/12.py": ("Cell", "In[8]")}.get  # it ran again
    assert place(scope["f"]) == "f (Cell In[8], line 2)"
    assert location("/runs/train.py", 4) == "/runs/train.py:4"
    assert location("/runs/train.py", 4, brief=True) == "train.py:4"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert location("/cells/12.py", 4, brief=True) == "12.py:4"


def test_jupyter_names_cells():
    first = "import pullback as pb\nv = pb.Variable([1.0, 2.0])"
    for cell in executed(first, NAMED, allow_errors=True):
        texts = [o.get("text", "") + o.get("evalue", "") for o in cell.outputs]
        assert f"Cell {NAMED[cell.source]}" in unescape("".join(texts)), (cell.source, texts)

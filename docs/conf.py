"""Configuration of the documentation site. `tools/site` runs Sphinx with it on a copy of docs/."""

import re
from importlib.metadata import version as version_of

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

project = "pullback"
author = "The pullback authors"
copyright = author
version = release = version_of("pullback")

extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 4
default_role = "py:obj"  # single backticks of docstrings
# Sections "References" are not always cited; parts of the changelog are merged by line.
suppress_warnings = ["ref.footnote", "myst.header"]

html_theme = "pydata_sphinx_theme"
html_title = "pullback"
html_favicon = "_static/icon.svg"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
smartquotes = False
toc_object_entries = False
html_sidebars = {"get_started": [], "benchmarks": [], "changelog": []}
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "image_light": "_static/icon.svg",
        "image_dark": "_static/icon.svg",
        "text": "pullback",
    },
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_align": "left",
    "footer_start": [],
    "footer_end": [],
}
# Prompts and results are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True


class TrimCode(SphinxTransform):
    """Remove the empty line at the end of examples, which doctest requires."""

    default_priority = 5

    def apply(self) -> None:
        for node in self.document.findall(nodes.literal_block):
            node.rawsource = node.astext().rstrip()
            node[:] = [nodes.Text(node.rawsource)]


class LinkNames(SphinxTransform):
    """Link `pb.name` in code on the pages to its place in the reference."""

    default_priority = 5
    NAME = re.compile(r"pb\.([A-Za-z_][\w.]*)(\(.*\))?")

    def apply(self) -> None:
        for node in list(self.document.findall(nodes.literal)):
            found = self.NAME.fullmatch(node.astext())
            if not found or isinstance(node.parent, nodes.reference | pending_xref):
                continue
            link = pending_xref(
                "", refdomain="py", reftype="obj", reftarget=f"pullback.{found[1]}", refwarn=False
            )
            node.replace_self(link)
            link += node


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(TrimCode)
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

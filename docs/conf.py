"""How Sphinx makes the site: the guide, the reference of the Python package and that of Rust.

The sources' folder is the repository, so that pages may link to every Markdown file of it. Nothing
on the site comes from the network.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

ROOT = Path(__file__).resolve().parent.parent
# What `cargo doc` has written, and where the site has it.
RUST = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "doc"
RUST_ON_SITE = "rust"

project = "warpquad"
author = "The warpquad authors"
copyright = author
version = release = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "*.md",
    "benchmarks/**.md",
    "data/oracle/*.md",
]
exclude_patterns = ["target", ".*", "**/.venv*", "benchmarks/.envs", "fuzz", "crates", "examples"]
suppress_warnings = ["myst.header", "toc.not_included"]

html_theme = "furo"
html_title = f"warpquad {version}"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sphinx = False
templates_path: list[str] = []

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
# A link `rust:warpquad/...` goes to the Rust reference.
myst_url_schemes = {"http": None, "https": None, "mailto": None, "rust": "rust:{{path}}"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
# Docstrings are Markdown-like: a word between backticks is code.
default_role = "code"

LOGGER = logging.getLogger(__name__)


def math_as_mathml(translator: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers draw by themselves."""
    display = isinstance(node, nodes.math_block)
    tree = latex2mathml.tex2mathml(node.astext(), as_block=display)
    translator.body.append(f"<div class='math'>{tree}</div>" if display else tree)
    raise nodes.SkipNode


def link_to_rust(app: Sphinx, tree: nodes.document, docname: str) -> None:
    """Turn links `rust:PAGE` into relative ones, and warn of pages that are not there."""
    up = "../" * docname.count("/")
    for node in tree.findall(nodes.reference):
        address = node.get("refuri", "")
        if address.startswith("rust:"):
            page = address.removeprefix("rust:")
            if not (RUST / page.split("#")[0]).is_file():
                LOGGER.warning("no page %s in the Rust reference", page, location=node)
            node["refuri"] = f"{up}{RUST_ON_SITE}/{page}"


def as_restructured(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn the Markdown of docstrings into what autodoc reads: links to items are code, and signs
    outside of examples are no markup."""
    in_example = False
    for i, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or in_example and bool(line.strip())
        if not in_example:
            line = re.sub(r"\[`([^`]+)`\](\([^)]*\))?", r"`\1`", line)
            lines[i] = "".join(
                part if part.startswith("`") else re.sub(r"([|*])", r"\\\1", part)
                for part in re.split(r"(`[^`]*`)", line)
            )


def linked(source: str, copy: str) -> None:
    """A file of the Rust reference on the site, without its bytes where the disk is the same."""
    try:
        os.link(source, copy)
    except OSError:
        shutil.copy2(source, copy)


def add_the_rest(app: Sphinx, error: Exception | None) -> None:
    """Put the Rust reference beside the pages, and a page at the root that leads to the first."""
    if error is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    (site / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>warpquad</title>'
        '<meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">warpquad</a>\n'
    )
    shutil.rmtree(site / RUST_ON_SITE, ignore_errors=True)
    if RUST.is_dir():
        shutil.copytree(RUST, site / RUST_ON_SITE, copy_function=linked)
    else:
        LOGGER.warning("no Rust reference in %s: run `cargo doc --no-deps`", RUST)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of that."""
    app.add_html_math_renderer("mathml", (math_as_mathml, None), (math_as_mathml, None))
    app.connect("doctree-resolved", link_to_rust)
    app.connect("autodoc-process-docstring", as_restructured)
    app.connect("build-finished", add_the_rest)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


html_math_renderer = "mathml"

"""Every code block of the guide runs, each page in a folder and a process of its own.

| block | what is done with it |
| --- | --- |
| any whose first line is a comment that begins with a file's name | it is written to that file |
| `python` with `>>>` | run as a doctest |
| `python` | run, in the page's names |
| `toml` without a name | a part of a problem file: it is completed, and checked |
| `console` | each line after `$` is run; the lines below must be in what it prints, numbers aside |
| `rust` | the doctests of the crate warpquad-extension run it |
| `text`, `json`, `bibtex` | shown |

A process of its own keeps what a page does from the other tests, and lets pages run at once.
"""

import doctest
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import program

ROOT = Path(__file__).resolve().parents[2]
# Pages whose packages have an environment of their own: python/tests_tools runs them.
ELSEWHERE = {"tools", "coming-from"}
PAGES = sorted(path for path in (ROOT / "docs" / "guide").glob("*.md") if path.stem not in ELSEWHERE)
PAGES.append(ROOT / "README.md")

SHOWN = {"text", "json", "bibtex", "{toctree}", "{eval-rst}"}
FENCE = re.compile(r"^([ ]*)```(\S*)[^\n]*\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"^#\s*([\w.-]+\.\w+)(:.*)?\n")
# What differs from run to run: numbers, with the unit of a time.
NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?(?: (?:us|ms|s|min|h)\b)?")


def blocks(page):
    """The fenced blocks of a page: the number of the first line, the language, the text."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        yield text.count("\n", 0, match.start()) + 2, match[2], match[3]


def run_page(page):
    """Run all blocks of a page, in the present folder."""
    names = {"__name__": "page"}
    for line, language, text in blocks(page):
        try:
            run_block(language, text, names, line)
        except Exception as error:
            raise AssertionError(f"{page.name}, line {line}: {error}") from error


def run_block(language, text, names, line):
    named = NAMED.match(text)
    if named and language != "console":
        Path(named[1]).write_text(text, encoding="utf-8")
        if language == "text":
            Path(named[1]).write_text(text.split("\n", 1)[1], encoding="utf-8")
    elif language == "python" and ">>>" in text:
        test = doctest.DocTestParser().get_doctest(text, names, "block", None, line)
        test.globs = names  # the page's own, not a copy
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        assert runner.run(test, clear_globs=False).failed == 0
    elif language == "python":
        exec(compile(text, f"<line {line}>", "exec"), names)
    elif language == "toml":
        check_part(text)
    elif language == "console":
        run_commands(text)
    else:
        assert language == "rust" or language in SHOWN, f"a block of {language or 'no language'}"


def check_part(text):
    """A part of a problem file, completed by what it does not say, is a problem."""
    part = tomllib.loads(text)
    more = ""
    if "integrand" not in part:
        more += 'integrand.external = "by hand"\n'
    if not {"parameters", "joint"} & set(part):
        of_start = [name for name in part.get("start", {}) if name != "points"] or ["a", "b"]
        more += "".join(f"parameters.{name}.normal = [0, 100]\n" for name in of_start)
    Path("part.toml").write_text(more + text, encoding="utf-8")
    run_commands("$ warpquad check part.toml")


def run_commands(text):
    printed = ""
    for line in text.splitlines():
        if line.startswith("$ "):
            done = subprocess.run(["bash", "-c", line[2:]], capture_output=True, text=True, timeout=100)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            printed = done.stdout + done.stderr
        elif line.strip():
            bare = [NUMBER.sub("0", one.strip()) for one in printed.splitlines()]
            wanted = NUMBER.sub("0", line.strip())
            # A shown line may be the beginning of the printed one.
            assert any(one.startswith(wanted) for one in bare), f"not printed: {line}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(page, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    places = [str(program().parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(places), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, __file__, str(page)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_command_is_outside_of_a_fence():
    """A block that is only indented would be run by nothing."""
    for page in PAGES:
        bare = FENCE.sub("", page.read_text(encoding="utf-8"))
        indented = [line for line in bare.split("\n\n") if line.startswith("    ")]
        assert not indented, f"{page.name}: {indented}"


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))

"""Write what is made from the core's tables: Python's keywords and priors for type checkers, and
tables of the guide.

    cargo build --release -p warpquad-cli
    python tools/options.py            # writes
    python tools/options.py --check    # says what is not up to date, and fails
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, Any]

# What each kind of option is in Python; words and paths are made of more.
TYPES = {
    "name": "str",
    "path": "str | os.PathLike[str]",
    "texts": "str | Callable[..., Any] | Sequence[str | Callable[..., Any]]",
    "flag": "bool",
    "count": "int",
    "positive": "float",
    "seconds": "float",
    "variance": "float",
    "interval": "tuple[float, float]",
    "fields": "Mapping[str, float | Sequence[float]]",
    "structure": "Mapping[str, Any]",
}


# Numbers that every prior takes, for the examples.
EXAMPLES = {"lo": 1, "hi": 2, "mean": 0, "location": 0, "a": 2, "b": 3, "df": 4}


def literal(words: list[str]) -> str:
    """The type of one of some words."""
    return f"Literal[{', '.join(json.dumps(word) for word in words)}]"


def python_type(row: Row) -> str:
    """The type of an option's keyword."""
    return literal(row["choices"]) if row["kind"] == "word" else TYPES[row["kind"]]


def known_names(listed: dict[str, list[Row]], family: str) -> list[str]:
    """The names that an option may have: those of a registry; a baseline is a method too."""
    families = [family, "baselines"] if family == "methods" else [family]
    return [row["name"] for family in families for row in listed[family]]


def priors(measures: list[Row]) -> str:
    """The module with a constructor for each one-dimensional prior."""
    text = '"""Constructors of the priors that the core knows; written by tools/options.py."""\n\n'
    text += "from __future__ import annotations\n\nfrom warpquad._priors import Prior\n"
    for row in measures:
        found = re.fullmatch(r"([\w-]+) \[(.*)\]", row["name"])
        if found is None:
            continue
        name, parameters = found[1], found[2].split(", ")
        function = name.replace("-", "_")
        numbers = ", ".join(str(EXAMPLES.get(parameter, 1)) for parameter in parameters)
        typed = ", ".join(f"{parameter}: float" for parameter in parameters)
        made = ", ".join(f"float({parameter})" for parameter in parameters)
        made += "," if len(parameters) == 1 else ""
        is_circle = name == "uniform"
        more = ", periodic: bool = False" if is_circle else ""
        about = "; `periodic=True` where they are one point" if is_circle else ""
        last = ", periodic" if is_circle else ""
        text += f"""

def {function}({typed}, *, size: int | None = None{more}) -> Prior:
    \"\"\"The {name} prior: {row["summary"]}{about}.

    >>> import warpquad as wq
    >>> wq.{function}({numbers}, size=3)
    {function}({numbers}, size=3)
    \"\"\"
    return Prior("{name}", ({made}), size{last})
"""
    return text


def types(listed: dict[str, list[Row]]) -> str:
    """The module that type checkers and editors read."""
    rows = listed["options"]

    def exact(row: Row) -> str:
        """The type with all names that there are, so that a typo is an error before a run."""
        return literal(known_names(listed, row["choices"])) if row["kind"] == "name" else python_type(row)

    def typed(name: str, base: str, about: str, fixed: bool) -> str:
        fields = [row for row in rows if row["python"] and row["fixed"] == fixed]
        lines = [f'    {row["keyword"]}: {exact(row)} | None\n    """{row["help"]}."""\n' for row in fields]
        return f'\n\nclass {name}({base}, total=False):\n    """{about}"""\n\n' + "".join(lines)

    body = typed("ResumeOptions", "TypedDict", "What may be given when a run is gone on with.", False)
    body += typed("Options", "ResumeOptions", "What may be given when a run starts.", True)
    abstract = [name for name in ("Callable", "Mapping", "Sequence") if f"{name}[" in body]
    typing = [name for name in ("Any", "Literal", "TypedDict") if re.search(rf"\b{name}\b", body)]
    imports = ["import os"] if "os." in body else []
    imports += [f"from collections.abc import {', '.join(abstract)}"] if abstract else []
    imports += [f"from typing import {', '.join(typing)}"]
    title = '"""The options of `integrate`, `resume` and `Session`; written by tools/options.py."""'
    return "\n".join([title, "", *imports]) + "\n" + body


def shown(value: Any) -> str:
    """A default, as a problem file has it."""
    if isinstance(value, list):
        return f"[{', '.join(shown(one) for one in value)}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if value == "inf" or value == "-inf" else json.dumps(value)


def meaning(row: Row) -> str:
    """The help of an option, with where it is refused."""
    refused = f"; not for {', '.join(row['refused'])}" if row["refused"] else ""
    return row["help"] + refused


def default(row: Row) -> str:
    """What holds if nothing is said."""
    return f"`{shown(row['default'])}`" if row["default"] is not None else row["unset"]


def section(rows: list[Row], name: str) -> str:
    """The table of a section of the problem file."""
    lines = ["| field | default | flag | meaning |", "| --- | --- | --- | --- |"]
    for row in rows:
        if row["section"] == name:
            flag = f"`{row['flag']}`" if row["flag"] else ""
            lines.append(f"| `{row['name']}` | {default(row)} | {flag} | {meaning(row)} |")
    return "\n".join(lines)


def keywords(rows: list[Row]) -> str:
    """The table of Python's keywords."""
    lines = ["| keyword | type | default | on resuming | meaning |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        if row["python"]:
            resumed = "fixed" if row["fixed"] else "may change"
            kind = python_type(row).replace("|", "\\|")
            lines.append(f"| `{row['keyword']}` | `{kind}` | {default(row)} | {resumed} | {meaning(row)} |")
    return "\n".join(lines)


def between(text: str, name: str, table: str) -> str:
    """The text with the table between the markers of that name."""
    start, end = f"<!-- options: {name} -->", "<!-- end of options -->"
    found = re.search(re.escape(start) + ".*?" + re.escape(end), text, flags=re.DOTALL)
    if found is None:
        sys.exit(f"no markers {start} ... {end}")
    return text[: found.start()] + f"{start}\n{table}\n{end}" + text[found.end() :]


def made(listed: dict[str, list[Row]]) -> dict[Path, str]:
    """Every file that is made from the tables, as it should be."""
    rows = listed["options"]
    problem, python = (ROOT / "docs" / "guide" / name for name in ("problem-file.md", "python.md"))
    text = problem.read_text()
    for name in ("integrand", "prior", "method", "budget"):
        text = between(text, name, section(rows, name))
    return {
        ROOT / "python" / "warpquad" / "_options.py": types(listed),
        ROOT / "python" / "warpquad" / "_laws.py": priors(listed["measures"]),
        problem: text,
        python: between(python.read_text(), "keywords", keywords(rows)),
    }


def main() -> None:
    """Write or check the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not up to date")
    parser.add_argument("--program", default=ROOT / "target" / "release" / "warpquad", help="the program warpquad")
    args = parser.parse_args()
    listed = subprocess.run([args.program, "list", "--json"], check=True, capture_output=True, text=True)
    files = made(json.loads(listed.stdout))
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if args.check:
        if stale:
            sys.exit("not up to date; run tools/options.py: " + ", ".join(str(path.relative_to(ROOT)) for path in stale))
        return
    for path in stale:
        path.write_text(files[path])
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()

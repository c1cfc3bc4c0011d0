"""Hand the posterior of a run to other packages from the command line: `python -m warpquad`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warpquad._errors import WarpquadError
from warpquad._result import Result
from warpquad._session import open as opened


def _arviz(result: Result, out: Path, draws: int, seed: int) -> None:
    result.to_arviz(draws, seed=seed).to_netcdf(out)


def _getdist(result: Result, out: Path, draws: int, seed: int) -> None:
    result.to_getdist(draws, seed=seed).saveAsText(str(out))


def _anesthetic(result: Result, out: Path, draws: int, seed: int) -> None:
    result.to_anesthetic(draws, seed=seed).to_csv(out)


FORMS: dict[str, Callable[[Result, Path, int, int], None]] = {
    "arviz": _arviz,
    "getdist": _getdist,
    "anesthetic": _anesthetic,
}


def main(arguments: list[str] | None = None) -> int:
    """Write the file; 1 for a mistake, as the program warpquad has it."""
    parser: Any = argparse.ArgumentParser(
        prog="python -m warpquad",
        description="Write posterior draws of a run for ArviZ (NetCDF, which arviz.from_netcdf reads), "
        "GetDist (its text files of that root) or anesthetic (CSV, which anesthetic.read_csv reads). "
        "The program warpquad writes plain tables: warpquad posterior RUN --out draws.csv.",
    )
    parser.add_argument("run", help="the run's directory")
    parser.add_argument("form", choices=FORMS, help="the package that is to read it")
    parser.add_argument("out", type=Path, help="the file, or GetDist's root")
    parser.add_argument("--draws", type=int, default=4000, help="how many draws, all of one weight")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the draws")
    given = parser.parse_args(arguments)
    try:
        session = opened(given.run)
        if session.core.mapped:
            print(
                f"warpquad: {', '.join(session.core.mapped)} are coordinates that the run's own program maps to "
                "parameters; there r.to_arviz() and its like give the parameters",
                file=sys.stderr,
            )
        FORMS[given.form](session.result(), given.out, given.draws, given.seed)
    except (WarpquadError, ImportError, OSError, ValueError) as error:
        hint = f"; pip install warpquad[{given.form}]" if not isinstance(error, WarpquadError) else ""
        print(f"warpquad: {error}{hint}", file=sys.stderr)
        return 1
    print(f"wrote {given.draws} draws to {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

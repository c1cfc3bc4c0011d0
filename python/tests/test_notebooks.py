"""The notebooks of examples/ run from top to bottom, and stay small."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.ipynb"))


def test_they_are_there():
    assert [path.stem for path in NOTEBOOKS] == [
        "bounded_rate",
        "first_evidence",
        "resuming",
        "your_own_warp",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    pytest.importorskip("ipykernel")
    book = nbformat.read(path, as_version=4)
    # A cell that raises fails the test, with its traceback.
    client(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert all(cell.execution_count for cell in book.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_names_no_machine(path):
    text = path.read_text()
    assert len(text) < 200_000
    for cell in json.loads(text)["cells"]:
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error" and output.get("name") != "stderr"
            assert "/home/" not in str(output) and "/tmp/" not in str(output)

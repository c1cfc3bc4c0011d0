"""The page of a run in a real browser: figures, hover, keyboard, themes, widths, paper."""

import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import warpquad as wq

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -r requirements-test.txt")

# `make chromium` installs it; WARPQUAD_TEST_CHROMIUM names another one.
CHROMIUM = os.environ.get("WARPQUAD_TEST_CHROMIUM") or shutil.which("chromium")
FIGURES = {"convergence", "corner", "left-out", "calibration", "models", "time"}


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        message = "no chromium: run `make chromium` (as root it installs Debian's package), or set WARPQUAD_TEST_CHROMIUM"
        if os.environ.get("CI") or (hasattr(os, "geteuid") and os.geteuid() == 0):
            pytest.fail(message)
        pytest.skip(message)
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


def fails_beside(x):
    if x["x"] > 0.8 and x["y"] < 0.4:
        raise ValueError("did not converge: <script>alert(1)</script>")
    return -20 * (x["x"] - 0.6) ** 2 - 15 * (x["y"] - 0.4) ** 2


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages by name: one, two and eight parameters, failures, and a single evaluation."""
    folder = tmp_path_factory.mktemp("pages")
    line = wq.integrate(lambda x: -8 * (x["x"] - 0.7) ** 2, {"x": wq.normal(0, 1)}, budget=20, audit=0.2, progress=False)
    square = {"x": wq.uniform(0, 1), "y": wq.uniform(0, 1)}
    failed = wq.integrate(fails_beside, square, budget=30, on_failure="skip", progress=False)
    eight = wq.integrate(
        lambda x: -sum((v - 0.3) ** 2 for v in x.values()), {f"p{k}": wq.normal(0, 1) for k in range(8)}, budget=60, progress=False
    )
    once = wq.integrate(fails_beside, square, budget=1, on_failure="skip", progress=False)
    made = {"one": line, "two": failed, "eight": eight, "once": once}
    for name, result in made.items():
        result.to_html(folder / f"{name}.html", title=name)
        assert (folder / f"{name}.html").stat().st_size < 2_000_000
    return {name: folder / f"{name}.html" for name in made}, made


def opened(browser, file, width=1400, scheme="light"):
    """A page, and what went wrong on it: messages, errors, and requests for anything else."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    wrong = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    address = Path(file).as_uri()
    page.on("request", lambda request: wrong.append(request.url) if request.url != address else None)
    page.goto(address)
    return page, wrong


@pytest.mark.parametrize("name", ["one", "two", "eight", "once"])
@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_whole_and_fits(browser, pages, name, width, scheme):
    page, wrong = opened(browser, pages[0][name], width, scheme)
    drawn = set(page.eval_on_selector_all("figure", "all => all.map(f => f.dataset.figure)"))
    expected = {"once": {"convergence", "corner", "models"}, "two": FIGURES | {"failures"}}
    assert drawn == expected.get(name, FIGURES)
    assert page.eval_on_selector_all("figure svg", "all => all.every(s => s.getBoundingClientRect().height > 80)")
    # Nothing but figures and tables scrolls sideways, and they do it by themselves.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for section in ("answer", "convergence", "posterior", "trust", "time"):
        assert page.locator(f"section#{section} h2").is_visible()
    # Up to four parameters no figure scrolls.
    scrolls = "all => all.some(s => s.scrollWidth > s.clientWidth)"
    assert page.eval_on_selector_all("figure .scroll", scrolls) == (name == "eight" and width == 400)
    # Letters stay large enough: at least 8 pixels in figures.
    sizes = """all => all.map(t => parseFloat(t.getAttribute("font-size")) * t.ownerSVGElement.getBoundingClientRect().width
               / t.ownerSVGElement.viewBox.baseVal.width)"""
    assert min(page.eval_on_selector_all("figure svg text", sizes)) >= 8
    assert wrong == []
    page.close()


def test_hover_and_keyboard_read_a_point(browser, pages):
    file, results = pages[0]["two"], pages[1]
    page, wrong = opened(browser, file)
    hover = json.loads(page.locator("#figure-corner script.hover").text_content())
    x, y, label = hover["panels"][0]["points"][-1]
    svg = page.locator("#figure-corner svg")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    scale = box["width"] / float(svg.get_attribute("viewBox").split()[2])
    page.mouse.move(box["x"] + x * scale, box["y"] + y * scale)
    reading = page.locator("#reading")
    assert reading.is_visible() and reading.text_content() == hover["labels"][label]
    # The last one drawn is the best.
    assert label == int(np.argmax(results["two"].observations["log_f"]))
    assert page.locator("#figure-corner .marked").count() == 1
    page.mouse.move(5, 5)
    assert not reading.is_visible()
    page.locator("#figure-convergence .scroll").focus()
    page.keyboard.press("ArrowRight")
    assert reading.is_visible() and "log Z = " in reading.text_content()
    page.keyboard.press("Escape")
    assert not reading.is_visible()
    assert wrong == []
    page.close()


def test_the_page_is_accessible(browser, pages):
    page, _ = opened(browser, pages[0]["two"])
    assert page.get_attribute("html", "lang") == "en"
    levels = page.eval_on_selector_all("h1, h2, h3", "all => all.map(h => +h.tagName[1])")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))
    assert page.eval_on_selector_all("figure [role=img]", "all => all.every(f => f.getAttribute('aria-label').length > 40)")
    assert page.eval_on_selector_all("table", "all => all.every(t => t.caption && t.querySelector('th[scope]'))")
    # Text against its background, by the formula of WCAG 2: 4.5 for small text.
    contrast = """() => {
        const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const paper = light(getComputedStyle(document.body).backgroundColor);
        return [...document.querySelectorAll("p, dt, dd, th, td, figcaption, a, summary")].filter(e => !e.closest(".warnings, .skip")).map(e => {
            const ink = light(getComputedStyle(e).color);
            return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05); }).reduce((a, b) => Math.min(a, b)); }"""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(contrast) >= 4.5
    page.close()


def test_dark_figures_are_drawn_in_light_ink(browser, pages):
    page, _ = opened(browser, pages[0]["one"], scheme="dark")
    fill = page.locator("#figure-convergence svg text").first.evaluate("t => getComputedStyle(t).fill")
    assert fill == "rgb(230, 237, 243)"
    page.close()


def test_failures_are_listed_as_text_and_marked(browser, pages):
    page, wrong = opened(browser, pages[0]["two"])
    failed = len(pages[1]["two"].failures)
    assert failed > 0
    table = page.locator("table", has_text="Failed attempts")
    assert table.locator("tbody tr").count() == min(failed, 20)
    assert "<script>alert(1)</script>" in table.locator("td.words").first.text_content()
    assert wrong == []
    page.close()


def test_failures_stand_where_they_lie_in_the_prior(browser, pages):
    page, wrong = opened(browser, pages[0]["two"])
    hover = json.loads(page.locator("#figure-failures script.hover").text_content())
    failed = pages[1]["two"].failures
    # A line for each parameter, with a cross for each failure.
    (panel,) = hover["panels"]
    assert len(panel["points"]) == 2 * len(failed) and len(hover["labels"]) == len(failed)
    left, _, right, _ = panel["bounds"]
    across = [x for x, _, _ in panel["points"]]
    assert min(across[: len(failed)]) > left + 0.75 * (right - left)  # x > 0.8
    assert max(across[len(failed) :]) < left + 0.45 * (right - left)  # y < 0.4
    assert wrong == []
    page.close()


def test_a_rate_begins_with_z_and_has_what_was_asked_beside_it(browser, tmp_path):
    def slow(a, b):
        time.sleep(0.02)
        return 0.9 * np.exp(-((a - 0.2) ** 2) - b**2), {"sum": a + b}

    priors = {"a": wq.normal(0, 1), "b": wq.normal(0, 1)}
    r = wq.integrate(f=slow, priors=priors, range=(0, 1), constraints=["a < b"], workers=3, budget=24, progress=False)
    r.to_html(tmp_path / "rate.html")
    page, wrong = opened(browser, tmp_path / "rate.html")
    assert page.locator(".headline").text_content().startswith("Z = ")
    assert page.locator(".other").text_content().startswith("log Z = ")
    assert "The average of f over the prior is Z" in page.locator("#latex").text_content().replace("$", "")
    assert "after 24 evaluations: Z = " in page.locator("#figure-convergence script.hover").text_content()
    facts = page.locator("#answer .facts").text_content()
    assert "The constraints leave50 % of the prior" in facts
    assert page.locator("table", has_text="Derived quantities").locator("tbody th").all_text_contents() == ["sum"]
    assert "Workers3, busy" in page.locator("#time .facts").text_content()
    assert wrong == []
    page.close()


def test_the_page_prints(browser, pages, tmp_path):
    page, _ = opened(browser, pages[0]["two"], scheme="dark")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    # The ink is the light page's, though the screen is dark.
    fill = page.locator("#figure-convergence svg text").first.evaluate("t => getComputedStyle(t).fill")
    assert fill == "rgb(36, 41, 47)"
    # The answer and its convergence share the first sheet: A4 less margins of 1 cm.
    page.set_viewport_size({"width": 718, "height": 1047})
    bottom = page.locator("#figure-convergence").bounding_box()
    assert bottom["y"] + bottom["height"] <= 1047
    printed = page.pdf(path=tmp_path / "page.pdf", format="A4", print_background=True)
    assert printed.startswith(b"%PDF") and len(printed) > 20_000
    # On A4 at 96 dots an inch nothing is cut off at the right.
    page.set_viewport_size({"width": 794, "height": 1123})
    assert page.evaluate("document.documentElement.scrollWidth") <= 794
    page.close()


def test_a_notebook_shows_the_page(browser, pages, tmp_path):
    shown = pages[1]["one"].to_html()
    assert "<a page of" in repr(shown)
    (tmp_path / "cell.html").write_text(shown._repr_html_(), encoding="utf-8")
    page, _ = opened(browser, tmp_path / "cell.html")
    inside = page.frame_locator("iframe")
    assert inside.locator("h2").first.text_content() == "The answer"
    page.close()

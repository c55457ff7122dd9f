"""The page of an explanation: one file that asks for nothing, shows texts as texts, and works in a browser."""

from __future__ import annotations

import html.parser
import json
import math
import shutil

import numpy as np
import pytest

import upshift as up
from upshift.views.chart import Series, chart, fastest

HOSTILE = "<script>alert('é')</script>"


def priced(x):
    if x < 0:
        return math.sqrt(-x)
    if x > 9:
        return x * 2 + 1
    return 0.5


@pytest.fixture(scope="module")
def told():
    priced.__name__ = priced.__qualname__ = HOSTILE
    return up.explain(priced, np.linspace(-5, 10, 3000))


class Parsed(html.parser.HTMLParser):
    """Every element is closed where it should be; texts and attributes are kept."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.links = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.links += [value for key, value in attributes if key in ("src", "href", "action", "xlink:href")]
        self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.tags.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_is_whole_and_asks_for_nothing(told, tmp_path):
    text = told.save(tmp_path / "x.html").read_text(encoding="utf-8")
    page = Parsed(text)
    assert not page.open and not page.links
    assert "@import" not in text and "url(" not in text
    assert page.tags.count("script") == 2  # its data and its script, none of the function's
    assert HOSTILE in page.texts


def test_a_cell_of_a_notebook_has_no_script_that_runs(told):
    cell = told._repr_html_()
    assert Parsed(cell).tags.count("script") == cell.count('type="application/json"')


def test_json_says_what_the_fields_say(told):
    data = json.loads(told.json())
    assert data["function"] == HOSTILE and data["gear"] == told.gear and data["n"] == 3000
    assert {gear["name"] for gear in data["gears"]} >= set(told.seconds)
    assert data["wins"][0]["from"] == 1
    assert all(one["reason"] and one["remedy"] for one in data["refusals"])


def test_branches_have_their_counts_and_lines(told):
    line = priced.__code__.co_firstlineno
    xs = np.linspace(-5, 10, 3000)
    (below, rest) = sorted(told.tree["branches"], key=lambda branch: branch["answer"] == "False")
    assert told.tree["where"] == f"test_report_page.py:{line + 1}"
    assert (below["node"]["count"], rest["node"]["count"]) == (int((xs < 0).sum()), int((xs >= 0).sum()))
    assert sum(branch["node"]["count"] for branch in rest["node"]["branches"]) == rest["node"]["count"]


def test_other_suffixes_and_folders(told, tmp_path):
    assert told.save(tmp_path / "x.txt").read_text(encoding="utf-8") == f"{told}\n"
    assert json.loads(told.save(tmp_path / "x.json").read_text(encoding="utf-8")) == told.to_dict()
    with pytest.raises(ValueError, match="not as"):
        told.save(tmp_path / "x.pdf")
    with pytest.raises(OSError):
        told.save(tmp_path / "nowhere" / "x.html")


def test_a_call_and_what_is_paid_once_are_told_apart(told):
    texts = Parsed(told._repr_html_()).texts
    assert "Where the time of such a call goes" in texts
    once = set(told.spent) & {"check", "trace", "compile", "verify"}
    assert ("What was paid once to make the gear ready" in texts) == bool(once)


def test_sizes_from_which_a_peer_is_the_fastest():
    loop = Series("loop", [(1, 1e-6), (1_000, 1e-3)])
    late = Series("late", [(100, 1e-5), (1_000, 1e-5)])
    assert fastest([loop, late]) == [(1, "loop"), (100, "late")]
    assert fastest([Series("alone", [(5, 1.0)])]) == [(5, "alone")] and fastest([]) == []
    assert "late from 100" in chart([loop, late], fastest([loop, late])[1:])


# ---- a browser


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    driver, binary = shutil.which("chromedriver"), shutil.which("chromium")
    if not driver or not binary:
        pytest.skip("no chromium here")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for word in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "window-size=1100,1600"):
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield made
    made.quit()


@pytest.fixture
def shown(browser, told, tmp_path):
    browser.set_window_size(1100, 1600)
    browser.get(told.save(tmp_path / "x.html").as_uri())
    yield browser
    assert browser.get_log("browser") == []


def test_a_name_is_text_in_a_browser(shown):
    assert shown.execute_script("return document.querySelector('h1').textContent") == HOSTILE
    assert shown.execute_script("return document.body.firstChild.nodeName") == "MAIN"


def test_a_toggle_hides_its_line_and_shows_it_again(shown):
    hidden = "return [...document.querySelectorAll('svg [data-series=loop]')].map(e => e.classList.contains('off'))"
    button = shown.find_element("css selector", "button[data-toggle=loop]")
    button.click()
    assert set(shown.execute_script(hidden)) == {True} and button.get_attribute("aria-pressed") == "false"
    button.click()
    assert set(shown.execute_script(hidden)) == {False}


def test_hovering_tells_the_size_and_the_times(shown):
    webdriver = pytest.importorskip("selenium.webdriver")
    figure = shown.find_element("css selector", "svg.chart")
    webdriver.ActionChains(shown).move_to_element(figure).perform()
    tip = shown.find_element("css selector", ".tip")
    assert tip.is_displayed() and "elements\n" in tip.text and "loop: " in tip.text


def test_light_and_dark(shown):
    paper = "return getComputedStyle(document.body).backgroundColor"
    before = shown.execute_script(paper)
    shown.find_element("css selector", "button.theme").click()
    assert shown.execute_script(paper) != before


def test_nothing_is_cut_off_on_a_narrow_screen(shown):
    shown.set_window_size(420, 900)
    assert shown.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at the documents' site in a browser: check_site.py HTML BROWSER.

Prints a line "ok - NAME" or "not ok - NAME" for each check and returns 1 if one failed. What people
ask must be found by the site's own search; pages load without complaints and without a network, fit
a phone, and are dark where the system is.
"""
import json
import os
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

HTML, BROWSER = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = open(os.path.join(HERE, "page.js"), encoding="utf-8").read()
LEAST_CONTRAST = 4.5  # WCAG 2.1, level AA

# what somebody types, and the page that must be among the first five results
QUESTIONS = [("precomputed kernels", "docs/faq.html"), ("precomputed", "docs/faq.html"),
             ("what C means", "docs/faq.html"), ("kernel weight 0", "docs/faq.html"),
             ("weight zero", "docs/faq.html"), ("resume", "docs/faq.html"), ("missing values", "docs/faq.html"),
             ("--checkpoint", "command/train.html"), ("MKLClassifier", "python/MKLClassifier.html"),
             ("medley_fit", "c/model.html"), ("support rows", "docs/glossary.html")]
PAGES = ["index.html", "docs/faq.html", "docs/math.html", "command/train.html", "python/MKLClassifier.html",
         "c/model.html", "gallery.html", "docs/guides/first-hour.html"]
failures = 0


def check(name, holds, seen=""):
    global failures
    failures += not holds
    print("ok -" if holds else "not ok -", name)
    if not holds:
        print("    seen:", str(seen)[:600])
    sys.stdout.flush()


def start():
    options = Options()
    options.binary_location = BROWSER
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("chromedriver"), options=options)


def asked(driver):
    """Addresses outside of the site that the pages so far wanted."""
    found = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            found.append(message["params"]["request"]["url"])
    return [url for url in found if not url.startswith(("file:", "data:"))]


def results(driver, question):
    """Pages that the search finds, best first."""
    driver.get(f"file://{os.path.abspath(HTML)}/search.html?q={question.replace(' ', '+')}")
    for _ in range(100):  # results come one by one
        if driver.execute_script("return document.querySelector('#search-results .search-summary, "
                                 "#search-results > p')?.textContent || ''").startswith(("Search finished", "Your")):
            break
        time.sleep(0.05)
    links = driver.execute_script("return [...document.querySelectorAll('ul.search li > a')].map(a => a.href)")
    return [link.split("/html/")[-1].partition("?")[0].partition("#")[0] for link in links]


driver = start()
try:
    for question, page in QUESTIONS:
        found = list(dict.fromkeys(results(driver, question)))[:5]
        check(f"'{question}' finds {page}", page in found, found)
    driver.get_log("browser")  # opened from a file, the search may not read excerpts of its results, which is logged
    for width, scheme in ((1280, "light"), (390, "dark")):
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        wide, colours, worst = [], set(), [99, ""]
        for page in PAGES:
            driver.get(f"file://{os.path.abspath(HTML)}/{page}")
            if driver.execute_script("return document.documentElement.scrollWidth > innerWidth"):
                wide.append(page)
            worst = min(worst, driver.execute_script(SCRIPT, "contrast") + [page])
            colours.add(driver.execute_script("return getComputedStyle(document.body).backgroundColor"))
        check(f"pages fit {width} pixels", not wide, wide)
        bright = {sum(map(int, colour[4:-1].split(","))) > 384 for colour in colours}
        check(f"they are {scheme} where the system is", bright == {scheme == "light"}, colours)
        check(f"and legible, {scheme}", worst[0] >= LEAST_CONTRAST, worst)
    shown = "return document.querySelector('.sphinxsidebar').getClientRects().length > 0"  # still a phone
    before = driver.execute_script(shown)
    driver.find_element("css selector", ".menu-button").click()
    check("a phone's menu opens", not before and driver.execute_script(shown), before)
    complaints = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    check("the browser does not complain", not complaints, complaints)
    check("nothing is asked of a network", not (outside := asked(driver)), outside)
finally:
    driver.quit()
sys.exit(failures > 0)

"""A real Chromium, and the dashboard as someone in front of it meets it."""

import base64
import os
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from gateway import PATIENCE

#: Screenshots are left here to be looked at, if it is set.
SCREENSHOTS = os.environ.get("CUTOUT_SCREENSHOTS")


def start(profile):
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in [
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "disable-dev-shm-usage",
        f"user-data-dir={profile}",
        "window-size=1280,1000",
    ]:
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


class Page:
    def __init__(self, driver, gateway, token=True):
        """As someone who follows the address that the gateway prints, or who types it without the token."""
        self.driver = driver
        # What an earlier test made of the window.
        self.size(1280, 1000)
        driver.get(f"{gateway.url}/#token={gateway.token}" if token else f"{gateway.url}/")

    def wait(self, condition):
        """Waits for the condition, which may look at a page that changes meanwhile."""
        return WebDriverWait(self.driver, PATIENCE, 0.05).until(lambda _: condition())

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def text(self, css):
        """All at once, so that no update comes in between; with plain spaces."""
        text = self.script("return document.querySelector(arguments[0])?.textContent ?? ''", css)
        return text.replace("\xa0", " ")

    def live(self):
        self.wait(lambda: self.text("#connection") == "live")

    def card(self, name):
        return f'article.breaker[aria-labelledby="breaker-{name}"]'

    def state(self, name):
        return self.script("return document.querySelector(arguments[0])?.dataset.state", self.card(name))

    def until_state(self, name, state):
        self.wait(lambda: self.state(name) == state)

    def meaning(self, name):
        return self.text(f"{self.card(name)} .meaning")

    def expand(self, name):
        """Shows what stands behind a card's name, if it does not yet."""
        opener = self.find(f"{self.card(name)} h3 button")
        if opener.get_attribute("aria-expanded") == "false":
            opener.click()

    def evidence(self, name):
        """The rows of a card's evidence, as (term, text)."""
        rows = self.script("""
            return [...document.querySelectorAll(arguments[0] + " .evidence > div")]
                .map((row) => [...row.children].map((part) => part.textContent.replaceAll("\u00a0", " ")))""", self.card(name))
        return dict(rows)

    def press(self, name, label):
        self.expand(name)
        self.find(f"{self.card(name)}").find_element(By.XPATH, f'.//button[starts-with(., "{label}")]').click()

    def operate(self, name, label, reason, seconds=None):
        """Presses a button of a card, fills in the dialog and confirms it."""
        self.press(name, label)
        self.wait(lambda: self.find("#operate").get_attribute("open") is not None)
        if seconds is not None:
            self.find("#operate-seconds").send_keys(str(seconds))
        self.find("#operate-reason").send_keys(reason)
        self.find("#operate-submit").click()

    def dialog_is_open(self):
        return self.find("#operate").get_attribute("open") is not None

    def timeline(self):
        return self.script("return [...document.querySelectorAll('#timeline li')].map((item) => item.innerText)")

    def order(self):
        """The names of the cards, as they stand."""
        return self.script("return [...document.querySelectorAll('article.breaker h3')].map((title) => title.textContent)")

    def queue(self):
        return self.script("return [...document.querySelectorAll('.route .target')].map((item) => item.textContent)")

    def focused(self):
        return self.script("""
            const at = document.activeElement;
            return at.getAttribute("aria-label") ?? at.textContent""")

    def errors(self):
        """What the browser complained about: broken scripts, broken rules of the content policy."""
        entries = self.driver.get_log("browser")
        # An answer like 400 is the gateway's word on what a test did.
        return [entry for entry in entries if entry["level"] == "SEVERE" and entry["source"] != "network"]

    def scheme(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def height(self):
        """Of all that there is to scroll."""
        return self.script("return document.documentElement.scrollHeight")

    def picture(self, name, whole=False):
        """Of what is in sight, or of the whole page."""
        if not SCREENSHOTS:
            return
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        if not whole:
            self.driver.save_screenshot(f"{SCREENSHOTS}/{name}.png")
            return
        clip = {"x": 0, "y": 0, "width": self.script("return innerWidth"), "height": self.height(), "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        Path(f"{SCREENSHOTS}/{name}.png").write_bytes(base64.b64decode(shot["data"]))

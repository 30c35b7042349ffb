"""Makes the pictures of docs/CONSOLE.md: each page once, one of them in the dark and one narrow, with a day's content."""

import io
import json
import random
import time

from browser import Browser
from fixture import ROOT, Fixture
from PIL import Image

FOLDER = ROOT / "docs/console"
# A palette is enough for a page, and a quarter of the size.
COLOURS = 128
NAMES = ["ann", "bob", "carla", "dmitri", "emma", "farid", "grace", "hugo", "ines", "jonas"]


def event(number, **more):
    return {"id": f"order-{number}", "user": f"{NAMES[number % len(NAMES)]}.{number}", "pns": ["apns", "gcm"],
            "message": "Your parcel is on its way", "source": "shop", **more}


def dead_letters(count):
    """The records that workers write in a night without the backend."""
    now = int(time.time() * 1000)
    chance = random.Random(17)
    kinds = [
        ("attempts-exhausted", "503", "the backend answered 503: Service Unavailable", 0.86),
        ("rejected", "404", "the backend answered 404: no device of this user", 0.96),
        ("expired", "", "it ended at 2026-11-22T22:00:00Z", 1.0),
    ]
    for number in range(count):
        draw = chance.random()
        reason, status, detail, _ = next(kind for kind in kinds if draw <= kind[3])
        user = f"{NAMES[number % len(NAMES)]}.{number}"
        at = now - chance.randrange(600_000, 6 * 3_600_000)
        value = json.dumps({"id": f"night-{number}", "user": user, "pns": ["gcm"], "message": "Your table is free"})
        headers = {
            "herald-id": f"night-{number}", "herald-pns": "gcm", "herald-attempts": "6",
            "herald-origin": f"notifications/{number % 2}/{100_000 + number}", "herald-origin-timestamp": str(at - 90_000),
            "herald-first-attempt-at": str(at - 80_000), "herald-dead-lettered-at": str(at), "herald-reason": reason,
            "herald-status": status, "herald-detail": detail, "herald-source": chance.choice(["shop", "tickets", "bank"]),
            "herald-history": json.dumps([
                {"at": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime((at - wait) / 1000)), "pns": "gcm",
                 **({"status": int(status)} if status else {"error": "no answer"}), "ms": chance.randrange(8, 400)}
                for wait in (80_000, 50_000, 1_000)]),
        }
        yield user.encode(), value.encode(), [(name, text.encode()) for name, text in headers.items() if text], at


def live_through_a_day(fixture):
    """The content of all pages: rates, retries, failures, campaigns, and the audit."""
    fixture.produce("notifications.dead-letter", dead_letters(4_988))
    fixture.run_campaign("back-in-stock", NAMES)
    fixture.run_campaign("spring-sale", [f"customer-{number}" for number in range(200)])
    fixture.herald("dlq", "resolve", "--group", "reason=expired", "--note", "too late to matter", "--yes", "--quiet")
    fixture.herald("dlq", "replay", "--group", "status=404", "--yes", "--reason", "devices were registered again, INC-1234",
                   "--ramp", "1,20,all", "--quiet", may_fail=True)
    # One event that failed twice before it was delivered, for Find.
    fixture.misbehave({"user": "annika", "pns": "gcm", "status": 503, "callsPerKey": 1})
    fixture.publish([event(17, user="annika")])
    # Work in progress on the pages: a push service that is slow, and one that fails now and then.
    fixture.misbehave({"pns": "gcm", "share": 0.003, "seed": 7, "status": 503}, {"latency": "20-80"})


def keep_busy(fixture, turn):
    """Some more events, so that the charts of Now have a shape."""
    fixture.publish_only([event(1_000 + turn * 400 + number) for number in range(random.Random(turn).randrange(100, 400))])


def take(browser, name, width, dark):
    browser.looks(width, dark=dark)
    file = FOLDER / f"{name}.png"
    browser.screenshot(file)
    image = Image.open(io.BytesIO(file.read_bytes())).convert("RGB")
    image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"pictures: {file.relative_to(ROOT)} ({file.stat().st_size // 1024} KiB)")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Fixture(operator="olga") as fixture, Browser() as browser:
        live_through_a_day(fixture)
        browser.sign_in(fixture)
        browser.open(fixture, "/now")
        # The charts have a point every two seconds.
        for turn in range(20):
            keep_busy(fixture, turn)
            time.sleep(2)
        browser.wait_for_text("apns delivered")
        take(browser, "now-dark", 1280, dark=True)
        browser.looks(1280)
        browser.open(fixture, "/failures")
        browser.wait_for_text("reason=attempts-exhausted")
        take(browser, "failures-light", 1280, dark=False)
        browser.press("Plan replay of reason=attempts-exhausted")
        browser.wait_for_text("would be replayed")
        take(browser, "plan-light", 1280, dark=False)
        browser.open(fixture, "/find?user=annika")
        browser.wait_for_text("What happened")
        browser.wait_for_text("herald explain")
        take(browser, "find-light", 1280, dark=False)
        browser.open(fixture, "/campaigns")
        browser.wait_for_text("spring-sale")
        take(browser, "campaigns-light", 1280, dark=False)
        browser.press("spring-sale")
        browser.wait_for_text("finished")
        take(browser, "campaign-light", 1280, dark=False)
        browser.open(fixture, "/audit")
        browser.wait_for_text("dlq.replay")
        take(browser, "audit-light", 1280, dark=False)
        fixture.misbehave({"status": 503})
        browser.open(fixture, "/")
        for turn in range(30):
            keep_busy(fixture, 100 + turn)
            if "Outage" in browser.heading():
                break
            time.sleep(1)
        browser.wait_for_text("Outage since")
        take(browser, "verdict-light", 1280, dark=False)
        take(browser, "verdict-narrow", 360, dark=False)


if __name__ == "__main__":
    main()

"""Texts that would do harm if treated as markup, and their ways into the console."""

import json
import time

# Each would leave its mark in the page's title, load an image from elsewhere, or break out of an attribute.
SCRIPT = "<script>document.title = 'hacked'</script>"
IMAGE = "<img src=http://192.0.2.1/x onerror=\"document.title = 'hacked'\">"
ATTRIBUTE = "\"' onmouseover=document.title='hacked' autofocus onfocus=document.title='hacked' x="
LINK = "javascript:document.title='hacked'"
TEMPLATE = "</textarea></title>{{constructor.constructor('document.title=1')()}}${document.title=1}"
# Text with direction marks, and a line that would look like another one.
BIDI = "invoice\u202egnp.exe\u0007\r\nApproved: yes"

USER = IMAGE
MESSAGE = SCRIPT + TEMPLATE
CAMPAIGN = SCRIPT
SOURCE = ATTRIBUTE
EVENT = "id-" + IMAGE


def event(user="mallory"):
    """An event with hostile text wherever it is allowed; no user can be."""
    return {"id": EVENT, "user": user, "pns": ["apns"], "message": MESSAGE, "campaign": CAMPAIGN, "source": SOURCE}


def dead_letter(number=0):
    """A dead letter whose headers are hostile, too, as a backend could cause them."""
    value = json.dumps({**event(USER), "id": f"{EVENT}{number}"}).encode()
    now = int(time.time() * 1000)
    headers = {
        "herald-id": f"{EVENT}{number}", "herald-pns": "apns", "herald-attempts": "1",
        "herald-origin": f"notifications/0/{1000 + number}", "herald-origin-timestamp": str(now - 2000),
        "herald-first-attempt-at": str(now - 1000), "herald-dead-lettered-at": str(now), "herald-reason": "rejected",
        "herald-status": "400", "herald-detail": f"{IMAGE} {BIDI}", "herald-campaign": CAMPAIGN,
        "herald-source": SOURCE, "x-own": SCRIPT,
        "herald-history": json.dumps([{"at": "2026-11-21T08:40:26.123Z", "pns": "apns", "status": 400, "ms": 12}]),
    }
    return USER.encode(), value, [(name, text.encode()) for name, text in headers.items()]


def audit_entry():
    """An entry of the audit as another program could write it."""
    entry = {"action": "dlq.replay", "phase": "done", "at": "2026-11-21T08:40:26.123Z", "by": IMAGE, "reason": SCRIPT,
             "selection": ATTRIBUTE, "options": {IMAGE: TEMPLATE}}
    return None, json.dumps(entry).encode(), []

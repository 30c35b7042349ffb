"""A backend for Herald: python3 backend.py PORT. It takes both kinds of body, and prints what it would send."""

import base64
import hmac
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

CREDENTIALS = b"Basic " + base64.b64encode(os.environ.get("CREDENTIALS", "herald:secret").encode())
sent = set()  # idempotency keys; keep yours for a week, where all of your processes see them
lock = threading.Lock()


def notification(body):
    """The notification in a body: a JSON string, or an object with more."""
    value = json.loads(body)
    if isinstance(value, str):
        value = {"message": value}
    if not isinstance(value, dict) or not isinstance(value.get("message"), str):
        raise ValueError("the body is neither a string nor an object with a message")
    return value  # title, link, image, data, badge, sound, category: those that the event has


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # Herald uses connections again

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        target = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(target.query).items()}
        if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), CREDENTIALS):
            return self.answer(401)
        is_notification = self.command == "POST" and target.path == "/api/notifications" and "to_tag" in query
        if not is_notification or query.get("pns") not in ("apns", "gcm", "wns"):
            return self.answer(400, "no notification, or an unknown push service")
        try:
            found = notification(body)
        except ValueError as error:
            return self.answer(400, str(error))
        key = self.headers.get("Idempotency-Key")
        with lock:
            if key not in sent:
                # Send it to the devices of the user here. If that fails, answer 503 and do not remember the key.
                print(json.dumps({"user": query["to_tag"], "pns": query["pns"], **found}), flush=True)
                sent.add(key)
        self.answer(200)

    do_GET = do_POST  # "herald doctor" tries the credentials so

    def answer(self, status, detail=""):
        body = json.dumps({"detail": detail}).encode() if detail else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()

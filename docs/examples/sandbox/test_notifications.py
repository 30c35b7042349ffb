"""A service's own test against Herald: python3 -m unittest, or pytest.

HERALD names the program, if it is not on PATH. Needs confluent-kafka.
"""

import json
import os
import subprocess
import time
import unittest
import urllib.request

from confluent_kafka import Producer


class Sandbox:
    """Herald with a broker and a backend, as long as the block goes on."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [os.environ.get("HERALD", "herald"), "sandbox", "-o", "json", "--retry-delays", "100ms,200ms"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addresses = json.loads(self.process.stdout.readline())
        return self

    def __exit__(self, *_):
        # It ends when its standard input does: also when this process is killed.
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()

    def ask(self, method, path, body=None):
        # The backend's password of every user is the user's name.
        request = urllib.request.Request(
            self.addresses["backendURL"] + path, body, {"Authorization": "Basic dGVzdDp0ZXN0"}, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()

    def misbehave(self, *rules):
        self.ask("PUT", "/sandbox/misbehaviour", json.dumps(rules).encode())

    def calls(self):
        return [json.loads(line) for line in self.ask("GET", "/sandbox/calls").splitlines()]

    def wait_for_calls(self, count):
        end = time.monotonic() + 30
        while len(self.calls()) < count:
            assert time.monotonic() < end, f"{len(self.calls())} calls, not {count}"
            time.sleep(0.05)
        return self.calls()


class OrderTest(unittest.TestCase):
    def test_a_shipped_order_is_told_also_when_the_backend_fails_once(self):
        with Sandbox() as herald:
            herald.misbehave({"user": "ann", "status": 503, "calls": 1})
            # In place of this: what your service does when an order is shipped.
            producer = Producer({
                "bootstrap.servers": herald.addresses["bootstrapServers"], "partitioner": "murmur2_random"})
            event = {"id": "order-17", "user": "ann", "pns": ["apns"], "message": "Your parcel is here"}
            producer.produce(herald.addresses["topics"]["requests"][0], json.dumps(event), key="ann")
            producer.flush(10)

            calls = herald.wait_for_calls(2)
            self.assertEqual([call["status"] for call in calls], [503, 200])
            self.assertEqual(calls[1]["message"], "Your parcel is here")


if __name__ == "__main__":
    unittest.main()

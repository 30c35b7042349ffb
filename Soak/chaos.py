"""All faults, at random moments from one seed, and at the same time."""

import random
import threading
import time

from cluster import NODES
from processes import Failure

# A worker's session is 10 s: after a longer stop it counts as dead.
STOP_SECONDS = (11, 17)
SECONDS_BETWEEN = {"stop": 25, "leave": 30, "fault": 9}
ABSENCE = (0.5, 15)
# The faults of the backend, their lengths, and their shares of the calls.
FAULTS = {
    "503": ((1, 4), (0.2, 1)), "500": ((1, 3), (0.1, 0.7)), "429": ((1, 3), (0.2, 0.9)), "hang": ((1, 4), (0.05, 0.5)),
    "slow": ((2, 5), (0.2, 0.9)), "reset": ((1, 3), (0.1, 0.8)), "cut": ((1, 3), (0.1, 0.8)),
    "refuse": ((0.5, 3), (1, 1)), "401": ((2, 5), (1, 1)), "403": ((2, 5), (1, 1)),
}
DEAD_SECONDS = (3, 15)
PAUSED_SECONDS = (4, 20)
WHOLE_SECONDS = (5, 25)
# The time for a cluster to recover on a busy machine.
PATIENCE = 300


class WorkerChaos:
    """Kills, stops and sends away workers, and lets the backend fail; the caller's loop calls `look`."""

    def __init__(self, pool, journal, backend, kills, seconds, seed):
        self.pool = pool
        self.journal = journal
        self.backend = backend
        self.kills = kills
        self.draws = {name: random.Random(f"{seed} {name}") for name in ("kill", *SECONDS_BETWEEN)}
        self.between = SECONDS_BETWEEN | {"kill": seconds / max(1, kills)}
        self.due = {name: time.monotonic() + self.gap(name) for name in self.draws if name != "kill" or kills}

    def gap(self, name):
        return self.draws[name].expovariate(1 / self.between[name])

    def look(self):
        for name in [name for name, due in self.due.items() if time.monotonic() >= due]:
            self.due[name] = time.monotonic() + self.gap(name)
            getattr(self, name)(self.draws[name])

    @property
    def is_done(self):
        return self.kills == 0

    def kill(self, draw):
        if candidates := self.pool.running():
            # Stopped ones and leaving ones too. Most come back at once, some when the group has noticed.
            draw.choice(candidates).kill(draw.choice((0, 0, draw.uniform(0, 3), draw.uniform(*ABSENCE))))
            self.kills -= 1
            if self.kills == 0:
                del self.due["kill"]

    def stop(self, draw):
        if candidates := self.pool.running(lambda worker: not worker.is_stopped and not worker.is_leaving):
            draw.choice(candidates).stop(draw.uniform(*STOP_SECONDS))

    def leave(self, draw):
        candidates = self.pool.running(lambda worker: not worker.is_stopped and not worker.is_leaving)
        if len(candidates) > 2:
            draw.choice(candidates).leave(draw.uniform(*ABSENCE))

    def fault(self, draw):
        name = draw.choice(list(FAULTS))
        seconds, share = FAULTS[name]
        line = f"{name} {draw.uniform(*seconds):.1f} {draw.uniform(*share):.2f}"
        self.journal.write("fault", what=line)
        self.backend.stdin.write(f"{line}\n".encode())
        self.backend.stdin.flush()


class BrokerChaos:
    """Kills and pauses brokers, one at a time and never before the cluster has recovered; has a thread of its own."""

    def __init__(self, cluster, journal, seed):
        self.cluster = cluster
        self.journal = journal
        self.random = random.Random(f"{seed} brokers")
        self.is_ending = threading.Event()
        self.error = None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def start(self):
        self.thread.start()

    @property
    def is_alive(self):
        return self.thread.is_alive()

    def run(self):
        try:
            while not self.is_ending.wait(self.random.uniform(*WHOLE_SECONDS)):
                self.hurt(self.random.choice(NODES), self.random.random() < 0.6)
        except Failure as error:
            self.error = error

    def hurt(self, node, is_kill):
        if is_kill:
            self.journal.write("broker-kill", node=node)
            self.cluster.kill(node)
            self.is_ending.wait(self.random.uniform(*DEAD_SECONDS))
            self.cluster.start(node)
        else:
            self.journal.write("broker-pause", node=node)
            self.cluster.pause(node)
            self.is_ending.wait(self.random.uniform(*PAUSED_SECONDS))
            self.cluster.resume(node)
        self.journal.write("broker-back", node=node)
        self.cluster.wait_until_healthy(PATIENCE)
        self.journal.write("broker-whole", node=node)

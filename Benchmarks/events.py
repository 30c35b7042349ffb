"""The events of the benchmark, and the request that the worker makes of one."""

import json

SIZE = 200
USERS = 100_000
# The largest size of a batch, librdkafka's default.
BATCH = 1_000_000


def event(number, users=USERS):
    """One event of SIZE bytes and its user, one of a given number."""
    user = f"user-{number * 7919 % users:06}"
    return user, value(f"bench-{number:08}", user)


def value(identifier, user):
    """An event of SIZE bytes."""
    event = {"id": identifier, "user": user, "message": "", "pns": ["apns"], "source": "bench"}
    event["message"] = ("Your parcel is on its way. " * 8)[: SIZE - len(json.dumps(event, separators=(",", ":")))]
    return json.dumps(event, separators=(",", ":"))


def produce(processes, bootstrap, topic, count, users=USERS, batch=BATCH):
    """Fills a topic."""
    path = processes.directory / "events"
    with open(path, "w") as file:
        for number in range(count):
            user, text = event(number, users)
            file.write(f"{user}\t{text}\n")
    processes.run(["kcat", "-P", "-b", bootstrap, "-t", topic, "-K\t", "-l", str(path),
                   "-X", "partitioner=murmur2_random", "-X", "linger.ms=20", "-X", f"batch.size={batch}",
                   "-X", "queue.buffering.max.messages=1000000"],
                  seconds=3_600)
    path.unlink()


def request():
    """The worker's request for the first event: path, headers, body."""
    user, text = event(0)
    return f"/api/notifications?pns=apns&to_tag={user}", {
        "Authorization": "Basic YmVuY2g6YmVuY2g=", "User-Agent": "herald", "Content-Type": "application/json; charset=utf-8",
        "Idempotency-Key": f"bench-00000000:{user}:apns"}, json.dumps(json.loads(text)["message"])


def wrk_script(directory):
    """Writes the script with which `wrk` posts that."""
    target, headers, body = request()
    path = f"{directory}/request.lua"
    with open(path, "w") as file:
        file.write(f"""\
wrk.method = "POST"
wrk.path = "{target}"
wrk.body = [==[{body}]==]
""")
        for name, value in headers.items():
            file.write(f'wrk.headers["{name}"] = "{value}"\n')
    return path


def h2load_arguments(directory):
    """The path, and the options by which `h2load` posts that."""
    target, headers, body = request()
    path = directory / "request.body"
    path.write_text(body)
    return [target, f"--data={path}", *(f"--header={name}: {value}" for name, value in headers.items())]

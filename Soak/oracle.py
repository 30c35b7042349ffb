"""The properties of a campaign that must hold, whatever its faults."""

import bisect
import collections
import datetime
import math

# Both sides of a comparison have one machine's clock; this allows for rounding to milliseconds (milliseconds).
ROUNDING = 5
# The time after its death in which a busy backend may still read a worker's last requests.
IN_THE_AIR = 2_000
# The time for which a worker that was stopped, or whose broker was away, may continue before it hears of its session's
# end.
UNAWARE = 10_000
# The time after that in which consequences may show.
AFTERMATH = 60_000
# Incidents that cut off no worker.
MOMENTS = ("kill", "leave", "died")
# Incidents after which a worker does not know at once that others have its events.
UNHEARD = ("stop", "session lost")
# The time after a 429 in which calls may be deferred to a retry topic: the pause, and then a rate that grows.
THROTTLED = 30_000
# Longer waits are in a retry topic.
SHORTEST_DELAY = 1_000
CREDENTIALS = ("401", "403")
# The outcomes, and whether such an event is in the dead-letter topic too; `The vocabulary` compares them with
# Outcome.swift.
OUTCOMES = {"delivered": False, "dead-lettered": True, "expired": True, "cancelled": False, "duplicate": False, "suppressed": False}
FINAL_REASONS = ("attempts-exhausted", "time-exhausted")


class Oracle:
    """Checks a history against the promises; `violations` has a list of sentences for each kind of breach."""

    def __init__(self, history, guarantee, under_way, max_calls, timeout_ms):
        self.history = history
        self.is_atomic = guarantee == "atomic"
        self.under_way = under_way      # events that a worker may have in memory, by its name
        self.max_calls = max_calls
        self.timeout_ms = timeout_ms
        self.violations = collections.defaultdict(list)
        self.counts = collections.Counter()
        self.repeats = {}               # (incident, run) → ids of the events that were called again because of it
        self.published = {request.id: request for request in history.requests if request.id}
        self.own_incidents = collections.defaultdict(list)
        # The actions come before the brokers' reactions.
        for incident in sorted(history.incidents, key=lambda one: (one.kind == "session lost", one.begin)):
            self.own_incidents[incident.worker].append(incident)

    def check(self):
        self.check_ends()
        self.check_outcomes()
        self.check_nothing_unasked()
        self.check_commits()
        self.check_calls()
        self.check_order()
        return self

    def breach(self, kind, sentence):
        self.violations[kind].append(sentence)

    # MARK: Workers

    def check_ends(self):
        """A worker ends by itself only to be restarted by its supervisor, after it was cut off from its brokers."""
        callers = {call.worker for call in self.history.calls}
        for end in self.history.ends:
            self.counts["workers that ended by themselves"] += 1
            was_cut_off = any(
                incident.kind not in MOMENTS and incident.begin <= end["at"] <= incident.end + AFTERMATH
                for incident in self.own_incidents[end["worker"]] + self.own_incidents[""])
            # The SIGTERM came before the worker could handle it.
            has_not_begun = end["how"] == "SIGTERM" and end["was_leaving"] and end["worker"] not in callers
            if has_not_begun:
                continue
            if end["how"] != "status 1" or end["was_leaving"] or not was_cut_off:
                self.breach("a worker ended by itself", f"{end['worker']}: {end['how']}\n{end['log']}")

    # MARK: Outcomes

    def check_outcomes(self):
        """Each event ends in exactly one final result for each push service."""
        for request in self.history.requests:
            self.counts[f"published {request.kind}"] += 1
            if request.kind == "nothing":
                continue
            for service in request.services or ("",):
                self.check_outcome(request, service)

    def check_outcome(self, request, service):
        where = (request.place, service)
        found = self.history.results_of.get(where, [])
        name = f"{at(request.place)} {request.id} {service}"
        if not found:
            self.breach("lost", f"{name}: no result"
                        + (", but a retry" if where in self.history.retries_of else ""))
        if len(found) > 1:
            self.counts["doubled results"] += 1
            if self.is_atomic:
                self.breach("doubled", f"{name}: {len(found)} results: {', '.join(at(one.place) for one in found)}")
        letters = self.history.dead_letters_of.get(where, [])
        if len(letters) > 1:
            self.counts["doubled dead letters"] += 1
            if self.is_atomic:
                self.breach("doubled", f"{name}: {len(letters)} dead letters")
        outcomes = {one.facts["outcome"] for one in found}
        if bool(letters) != any(OUTCOMES[outcome] for outcome in outcomes):
            self.breach(
                "dead letter without result, or the reverse", f"{name}: {outcomes}, {len(letters)} dead letters")
        for one in found:
            self.check_result(request, service, one, name)
        # The result `expired` is its own reason.
        reasons = {one.facts.get("reason", one.facts["outcome"]) for one in found}
        for one in letters:
            if one.facts["herald-reason"] not in reasons:
                self.breach("dead letter without result, or the reverse", f"{name}: {one.facts}")
        calls = self.history.calls_of.get((request.id, service), []) if request.id else []
        if request.not_before and calls and calls[0].begin < milliseconds(request.not_before) - ROUNDING:
            self.breach("early", f"{name}: called {milliseconds(request.not_before) - calls[0].begin:.0f} ms early")

    def check_result(self, request, service, result, name):
        """A result agrees with the backend's answers."""
        facts = result.facts
        outcome, reason = facts["outcome"], facts.get("reason", "")
        self.counts[f"results {outcome} {reason}".rstrip()] += 1
        if request.kind == "broken":
            if (outcome, reason) != ("dead-lettered", "malformed"):
                self.breach("wrong result", f"{name}: {facts}")
            return
        if (facts.get("id"), facts.get("user")) != (request.id, request.user):
            self.breach("wrong result", f"{name}: {facts}")
        calls = [call for call in self.history.calls_of.get((request.id, service), [])
                 if call.end <= result.time + ROUNDING]
        if outcome == "delivered":
            is_right = request.kind in ("plain", "later") and any(call.is_accepted for call in calls)
        elif outcome == "expired":
            is_right = request.kind == "expired" and not calls
        elif outcome == "dead-lettered" and reason == "rejected":
            # Two refusals while others got through count as an event's own fault (docs/DESIGN.md, "Known limits").
            is_own_fault = request.kind == "rejected" or sum(call.how in CREDENTIALS for call in calls) >= 2
            is_right = is_own_fault and any(call.how == str(facts.get("status")) for call in calls)
        elif outcome == "dead-lettered" and reason in FINAL_REASONS:
            # Calls that were refused or reset before they were read are known to the worker alone.
            is_right = facts.get("attempts") == self.max_calls and not any(call.is_accepted for call in calls)
        else:
            # No campaign is cancelled, and no event comes twice.
            is_right = False
        if not is_right:
            self.breach("wrong result", f"{name}: {facts}; the backend saw {[call.how for call in calls]}")

    def check_nothing_unasked(self):
        """Every record and every call belongs to an event that requires it."""
        history = self.history
        for record in history.results + history.retries + history.dead_letters:
            request = history.by_origin.get(record.origin)
            if request is None or not set(record.services) <= set(request.services):
                self.breach("unasked", f"{at(record.place)}: {record.facts}")
        wanted = {(request.id, service): request for request in history.requests for service in request.services}
        for call in history.calls:
            request = wanted.get((call.id, call.service))
            if request is None or request.user != call.user:
                self.breach("unasked", f"call {call}")
            elif request.kind == "expired":
                self.breach("unasked", f"expired and called: {call}")

    # MARK: The account

    def check_account(self, account):
        """`herald account` agrees with the records that are read here, in all and by topic and push service."""
        expected = collections.Counter()
        for request in self.history.requests:
            if request.kind == "nothing":
                expected["tombstones"] += 1
                continue
            topic = request.place[0]
            for row in ("all", topic):
                expected[row, "events"] += 1
            for service in request.services or ("",):
                found = self.history.results_of.get((request.place, service), [])
                kind = max(found, key=lambda one: one.place).facts["outcome"] if found else "missing"
                for row in ("all", topic, service):
                    expected[row, "notifications"] += 1
                    expected[row, kind] += 1
                    expected[row, "repeated"] += len(found) > 1
                expected[service, "events"] += 1
        told = collections.Counter({"tombstones": account["tombstones"]})
        rows = [("all", account["total"]), *((row["topic"], row) for row in account["topics"]),
                *((row["pns"] or "", row) for row in account["pushServices"])]
        for name, row in rows:
            told.update({(name, kind): number for kind, number in row.items() if isinstance(number, int)})
        for what in sorted(set(expected) | set(told), key=str):
            if expected[what] != told[what]:
                self.breach("a wrong account", f"{what}: {told[what]}, where the topics have {expected[what]}")
        if account["gaps"]:
            self.breach("a wrong account", f"not read: {account['gaps']}")

    # MARK: Commits

    def check_commits(self):
        """No committed offset passes an event that is not finished, and none goes back."""
        reached = {}
        finished = self.finishing_times()
        for commit in self.history.commits:
            self.counts["commits"] += 1
            where = (commit.topic, commit.partition)
            if commit.offset < reached.get(where, 0):
                self.breach("commit went back", f"{commit} after {reached[where]}")
            reached[where] = max(commit.offset, reached.get(where, 0))
            offsets, latest = finished.get(where, ([], []))
            below = bisect.bisect_left(offsets, commit.offset)
            if below and latest[below - 1] > commit.time + ROUNDING:
                self.breach(
                    "committed and not finished", f"{commit}: what is below was finished at {latest[below - 1]}")
        for where, (offsets, _) in finished.items():
            if reached.get(where, 0) <= offsets[-1]:
                self.breach("not committed at the end", f"{where}: {reached.get(where)}, the last is {offsets[-1]}")

    def finishing_times(self):
        """Each partition's offsets, with the moment at which all events up to each of them were finished."""
        times = collections.defaultdict(dict)
        for request in self.history.requests:
            topic, partition, offset = request.place
            services = request.services or ("",)
            times[topic, partition][offset] = 0 if request.kind == "nothing" else max(
                self.finished(request.place, service, after=None) for service in services)
        for record in self.history.retries:
            topic, partition, offset = record.place
            times[topic, partition][offset] = max(
                self.finished(record.origin, service, after=record) for service in record.services)
        prefixes = {}
        for where, found in times.items():
            offsets, latest, longest = sorted(found), [], 0
            for offset in offsets:
                longest = max(longest, found[offset])
                latest.append(longest)
            prefixes[where] = (offsets, latest)
        return prefixes

    def finished(self, origin, service, after):
        """The moment at which a service of an event had a result or a retry record, `after` a retry record of it."""
        def times(records):
            return [one.time for one in records.get((origin, service), [])
                    if after is None or (one.place != after.place and one.time >= after.time)]

        found = times(self.history.results_of)
        result = min(found, default=float("inf"))
        first = [one for one in self.history.results_of.get((origin, service), []) if one.time == result]
        if first and first[0].facts["outcome"] != "delivered":
            result = max(result, min(times(self.history.dead_letters_of), default=float("inf")))
        return min(result, min(times(self.history.retries_of), default=float("inf")))

    # MARK: Calls

    def check_calls(self):
        """A call is repeated only after a failure, or because of an incident; never for more events than
        were under way, and never for recorded ones.
        """
        for (identifier, service), calls in self.history.calls_of.items():
            if self.is_atomic and identifier in self.published:
                self.check_recorded((self.published[identifier].place, service), calls)
            failures = sum(not call.is_accepted and call.how not in CREDENTIALS for call in calls)
            causes = set()
            for place, call in enumerate(calls):
                earlier = self.still_counting(calls[:place], call)
                if earlier is None:
                    continue
                self.counts["repeated calls"] += 1
                cause = self.cause(earlier, calls[:place], call)
                if cause is None:
                    self.breach("repeated without cause", f"{identifier}:{service}: {earlier}, then {call}")
                    continue
                causes.add(cause)
                self.repeats.setdefault(cause, set()).add(identifier)
            disturbances = sum(
                incident.end >= calls[0].begin - IN_THE_AIR and incident.begin <= calls[-1].begin
                for incident in self.history.incidents) if failures > self.max_calls else 0
            if failures > self.max_calls * (1 + disturbances):
                self.breach("too many calls", f"{identifier}:{service}: {[call.how for call in calls]}")
        for (incident, run), identifiers in self.repeats.items():
            limit = self.under_way[run.split(".")[0]]
            # At least once, durable events count as done for the bounds, and are repeated when their commit is late.
            if self.is_atomic and len(identifiers) > limit:
                self.breach("more repeated than was under way",
                            f"{incident}: {len(identifiers)} events of {run}, {limit} under way at most")

    def check_recorded(self, where, calls):
        """An event with a result is not called, except by a worker that cannot know that its session is over."""
        recorded = min((result.visible for result in self.history.results_of.get(where, [])), default=float("inf"))
        for call in calls:
            if call.begin <= recorded + ROUNDING:
                continue
            is_unaware = any(
                incident.kind not in MOMENTS and incident.begin <= call.begin <= incident.end + UNAWARE
                for incident in self.own_incidents[call.worker] + self.own_incidents[""])
            if not is_unaware:
                self.breach("called after its result", f"{at(where[0])} {where[1]}: result at {recorded}, {call}")

    def still_counting(self, earlier, call):
        """The last of the earlier calls that makes this one a repetition: accepted, or not ended yet."""
        for other in reversed(earlier):
            if other.is_accepted and other.end <= call.begin:
                return other
            # A caller that hung up after its time-out may have called again before the backend saw that.
            has_timed_out = not other.is_accepted and call.begin - other.begin > 0.9 * self.timeout_ms
            if other.end > call.begin and not has_timed_out:
                return other
        return None

    def cause(self, earlier, all_earlier, call):
        """The cause of a repeated call: an incident, and the run that it belongs to."""
        # At least once: a retry may be durable without its event's offset, and then both continue.
        for other in [earlier] if self.is_atomic else [earlier, *all_earlier]:
            for incident in self.own_incidents[other.worker]:
                if incident.kind == "leave":
                    continue
                if incident.end >= other.begin - IN_THE_AIR and incident.begin <= call.begin:
                    return incident, other.worker
        for run in (call.worker, earlier.worker):
            for incident in self.own_incidents[run]:
                if incident.kind in UNHEARD and incident.begin <= call.begin <= incident.end + UNAWARE:
                    return incident, run
        for incident in self.own_incidents[""]:
            if incident.end + UNAWARE >= earlier.begin and incident.begin <= call.begin:
                return incident, earlier.worker
        if not self.is_atomic and self.published[call.id].place in self.history.attempted:
            # The calls before the retry may have been refused, and so not been seen.
            begin = self.published[call.id].time
            for incident in self.history.incidents:
                if incident.end + UNAWARE >= begin and incident.begin <= call.begin:
                    return incident, earlier.worker
        return None

    # MARK: Order

    def check_order(self):
        """One user's events of a partition are called for the first time in order, except for retried ones."""
        users = collections.defaultdict(list)
        for request in self.history.requests:
            if request.user:
                users[request.place[:2], request.user].append(request)
        for requests in users.values():
            latest, latest_call = None, None
            for request in sorted(requests, key=lambda one: one.place):
                call = min((calls[0] for service in request.services
                            if (calls := self.history.calls_of.get((request.id, service)))),
                           key=lambda call: call.number, default=None)
                # A loud user's events, too, wait in a retry topic before their first call.
                if call is None or self.history.attempted.get(request.place, math.inf) < call.begin:
                    continue
                if latest and call.number < latest_call.number:
                    if (self.may_have_been_refused(call) or self.may_have_been_put_off(call)
                            or may_wait_in_a_retry(latest)):
                        self.counts["overtaken by way of a retry that was not recorded"] += 1
                    else:
                        self.breach("order", f"{request} {call} before {latest} {latest_call}")
                elif request.place not in self.history.attempted:
                    latest, latest_call = request, call

    def may_have_been_refused(self, call):
        """Whether another event's earlier calls may be unknown because no server listened."""
        return any(name == "refuse" and begin <= call.begin <= end + UNAWARE
                   for begin, end, name in self.history.faults)

    def may_have_been_put_off(self, call):
        """Whether another event may have gone to a retry topic before its first call, because of a 429.

        If that record is lost with its transaction, the event starts anew.
        """
        return any(name == "429" and begin <= call.begin <= end + THROTTLED
                   for begin, end, name in self.history.faults)


def may_wait_in_a_retry(request):
    """Whether an event may go to a retry topic before its first call, to wait for its moment.

    It is overtaken then, even if that record is lost with its transaction and the event starts anew.
    """
    return bool(request.not_before) and milliseconds(request.not_before) - request.time >= SHORTEST_DELAY


def at(place):
    return "/".join(map(str, place))


def milliseconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000

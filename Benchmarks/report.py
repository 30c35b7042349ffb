"""Prints the measurements, and whether they meet their goals."""

import math
import os
import statistics

import cases
import events

# The goals for every event, beside `wrk` in the same run; see docs/PERFORMANCE.md.
RATE_GOAL, COST_GOAL, ATOMIC_GOAL, LIMIT_GOAL = 0.5, 1.7, 0.95, 0.9
# Beside `wrk` over HTTP/1.1, over TLS beside `wrk` over TLS; and a rate that only waiting bounds.
HTTP2_GOALS, SHARED_GOAL = {"http2": 1.2, "http2-tls": 1.0}, 0.99
MEMORY_GOAL = 96e6
AGE_GOAL = 10
CAMPAIGN_GOAL = 25
# The processor time of an event at low rates, and the broker's beside librdkafka alone.
LOW_GOAL, BROKER_GOAL = 80e-6, 1.5
# The largest share of the cores for other processes, including this program, at which the figures are reliable.
QUIET = 0.1


def print_floor(floor):
    print(f"\n{'floor':<16}{'per second':>12}{'µs each':>10}")
    for name, wrk in (("wrk", floor.wrk), ("wrk over TLS", floor.wrk_tls), ("h2load", floor.h2load),
                      ("h2load over TLS", floor.h2load_tls)):
        print(f"{name:<16}{wrk.rate:>12,.0f}{wrk.cost * 1e6:>10.2f}")
    print(f"{'consume':<16}{floor.consume_rate:>12,.0f}{floor.consume_cost * 1e6:>10.2f}")
    print(f"{'produce':<16}{floor.produce_rate:>12,.0f}{floor.produce_cost * 1e6:>10.2f}")


def print_throughput(rows, count):
    print(f"\n{count:,} events of {events.SIZE} bytes, {events.USERS:,} users, {os.cpu_count()} cores shared with broker and "
          "backend")
    print(f"\n{'':<16}{'events':>9}{'of':>6}{'processor time for each event, µs':>38}{'':>10}{'peak':>6}{'cores':>7}")
    print(f"{'herald':<16}{'/s':>9}{'wrk':>6}{'worker':>9}{'of wrk':>8}{'broker':>8}{'backend':>9}{'others':>8}"
          f"{'MB':>12}{'busy':>7}")
    for row in rows:
        of_rate = f"{row.rate / row.wrk.rate:.2f}" if row.wrk else ""
        of_cost = f"{row.cost / row.wrk.cost:.2f}" if row.wrk else ""
        print(f"{row.case.name:<16}{row.rate:>9,.0f}{of_rate:>6}{row.cost * 1e6:>9.2f}{of_cost:>8}"
              f"{row.broker * 1e6:>8.2f}{row.backend * 1e6:>9.2f}{row.others * 1e6:>8.2f}{row.peak / 1e6:>12.0f}"
              f"{row.busy:>7.2f}")

    others = max(row.others * row.rate for row in rows)
    if others > QUIET * (os.cpu_count() or 1):
        print(f"\nThe machine was not quiet: others took up to {others:.1f} cores, and not even the ratios mean much.")


def print_ages(rows, floor):
    print(f"\n{'age at arrival, ms':<20}{'p50':>8}{'p99':>8}{'p99.9':>8}{'max':>8}   at {cases.PACE:,} events/s")
    if floor:
        print(f"{'bare consumer':<20}" + "".join(f"{age:>8.2f}" for age in floor.ages))
    for case, ages in rows:
        print(f"{case.name:<20}" + "".join(f"{age:>8.2f}" for age in ages))


def print_low(rows):
    print(f"\n{'':<22}{'processor time for each event, µs':>36}{'age at arrival, ms':>34}")
    print(f"{'events/s':<22}{'whose':>9}{'broker':>9}{'':>18}{'p50':>10}{'p99':>8}{'p99.9':>8}{'max':>8}")
    for row in rows:
        print(f"{row.rate:>6,} {row.who:<15}{row.cost * 1e6:>9.1f}{row.broker * 1e6:>9.1f}{'':>18}"
              + f"{row.ages[0]:>10.2f}" + "".join(f"{age:>8.2f}" for age in row.ages[1:]))


def print_idle(rows):
    print(f"\n{'a worker with nothing to do':<40}{'of a core':>11}{'broker':>9}{'MB':>6}")
    for row in rows:
        print(f"{row.case.about:<40}{row.share:>11.2%}{row.broker:>9.2%}{row.resident / 1e6:>6.0f}")


def print_refused(rows):
    print(f"\n{'a backend that refuses':<78}{'events/s':>9}{'of it':>7}{'refused':>9}{'retries':>9}{'dead':>6}")
    for row in rows:
        print(f"{row.case.about:<78}{row.rate:>9,.0f}{row.share:>7.3f}{row.refused:>9.2%}{row.retries:>9.2f}{row.dead:>6}")
    print("of it: of the calls that it takes, or of the rate without refusals; retries: retry records for each refused call")


def print_bystanders(rows):
    print(f"\n{'seconds until one-time codes are called, beside':<76}{'p50':>8}{'p99':>8}{'latest':>8}{'at':>6}{'never':>12}"
          f"{'wanted':>14}{'calls':>10}{'theirs':>8}{'peak MB':>9}   the loud user")
    for row in rows:
        case = row.case
        wanted = f"≤ {case.median:g}, ≤ {case.latest:g}"
        loud = row.loud
        own = "" if loud is None else f"{loud.share:.2f} of his rate, {loud.out_of_order} of {loud.calls:,} out of order"
        print(f"{case.about:<76}{seconds(row.percentile(0.5)):>8}{seconds(row.percentile(0.99)):>8}"
              f"{seconds(row.latest):>8}{row.latest_at:>6.1f}{f'{row.never} of {row.count}':>12}{wanted:>14}{row.calls:>10,}{row.treated:>8,}"
              f"{row.peak / 1e6:>9.0f}   {own}")
    print("a code that is never called is later than all others; latest: of those that were called;\n"
          "at: when it was published, seconds after the first code; theirs: calls for those who hang, fail or are refused")


def seconds(value):
    return "–" if value == math.inf else f"{value:.3f}" if value < 1 else f"{value:.1f}"


def print_faults(rows):
    print(f"\n{'age at arrival, ms, two workers':<52}{'events/s':>9}{'p50':>10}{'p99':>9}{'p99.9':>9}{'max':>9}{'repeated':>10}"
          f"{'lost':>6}{'brokers':>9}{'workers':>9}")
    for row in rows:
        print(f"{row.about:<52}{row.pace:>9,}{row.ages[0]:>10.2f}" + "".join(f"{age:>9.1f}" for age in row.ages[1:])
              + f"{row.repeated:>10}{row.lost:>6}{row.brokers:>9.2f}{row.workers:>9.2f}")
    print("brokers, workers: cores that they took")


def print_keyed(drained, aged):
    if drained:
        print(f"\n{'in the order of keys, in transactions':<44}{'who':>12}{'events/s':>10}{'least':>9}{'most':>9}{'of the limit':>14}"
              f"{'µs each':>9}{'broker':>8}{'peak MB':>9}")
    for row in drained:
        rate = statistics.median(row.rates)
        print(f"{row.case.circumstances.about:<44}{row.who:>12}{rate:>10,.0f}{min(row.rates):>9,.0f}{max(row.rates):>9,.0f}"
              f"{rate / row.case.limit:>14.2f}{row.cost * 1e6:>9.1f}{row.broker * 1e6:>8.1f}{row.peak / 1e6:>9.0f}")
    if aged:
        print(f"\n{'age at arrival, ms, 1 000 events/s':<56}{'who':>12}{'p50':>9}{'p99':>9}{'p99.9':>9}{'max':>9}{'repeated':>10}{'lost':>6}")
    for row in aged:
        print(f"{row.about:<56}{row.who:>12}{row.ages[0]:>9.2f}" + "".join(f"{age:>9.1f}" for age in row.ages[1:])
              + f"{row.repeated:>10}{row.lost:>6}")


def print_campaigns(both):
    """Side by side: the first, beside a broker that compiles its code, and the second."""
    print(f"\ncampaigns for {both[0].recipients:,} recipients, seconds from the start until    first  second")
    for what, moment in (("the audience was looked through", "previewed"), ("everybody was published", "published"),
                         ("the backend had all calls", "called"), ("all outcomes were known", "ended"),
                         ("and for the report", "report")):
        print(f"  {what:<60}" + "".join(f"{getattr(one, moment):>8.1f}" for one in both))
    for name in both[0].processor:
        print(f"  {'processor time, ' + name:<60}" + "".join(f"{one.processor[name]:>8.1f}" for one in both))
    for name in both[0].peaks:
        print(f"  {'peak, ' + name + ', MB':<60}" + "".join(f"{one.peaks[name] / 1e6:>8.0f}" for one in both))


def goals(rows, ages, hang):
    """Each goal of these measurements: its name, the value, and whether it is met (None: unknown)."""
    by_name = {row.case.name: row for row in rows}
    first, plain, slow, separate, shared = (by_name.get(name) for name in (
        cases.FIRST.name, "at-least-once", "delay-100ms", "http1-100ms", "http2-100ms"))
    if first:
        rate, cost = first.rate / first.wrk.rate, first.cost / first.wrk.cost
        yield f"rate at least {RATE_GOAL} of wrk's", f"{rate:.2f}", rate >= RATE_GOAL
        yield f"processor time at most {COST_GOAL} times wrk's", f"{cost:.2f}", cost <= COST_GOAL
        yield "peak memory at most 96 MB", f"{first.peak / 1e6:.0f} MB", first.peak <= MEMORY_GOAL
    if first and plain:
        # Each beside its own wrk, because the machine may have been slower for one of them.
        ratio = first.rate / first.wrk.rate / (plain.rate / plain.wrk.rate)
        yield f"atomic at least {ATOMIC_GOAL} of at-least-once", f"{ratio:.2f}", ratio >= ATOMIC_GOAL
    for name, goal in HTTP2_GOALS.items():
        if row := by_name.get(name):
            ratio = row.cost / row.wrk.cost
            yield f"{row.case.about}: processor time at most {goal} times wrk's", f"{ratio:.2f}", ratio <= goal
    if separate and shared:
        ratio = shared.rate / separate.rate
        yield (f"1 000 calls in flight on {shared.case.connections} connections, at least {SHARED_GOAL} of the rate on 1 000",
               f"{ratio:.2f}", ratio >= SHARED_GOAL)
    if slow:
        share, bound = slow.rate / slow.case.limit, slow.busy > 0.95 * (os.cpu_count() or 1)
        yield (f"at least {LIMIT_GOAL} of 40 000/s at 100 ms, if the cores allow it",
               f"{share:.2f}" + (", the cores were busy" if bound else ""), None if bound else share >= LIMIT_GOAL)
    for case, (_, high, _, _) in ages:
        if case == cases.FIRST:
            yield f"p99 at {cases.PACE:,} events/s under {AGE_GOAL} ms", f"{high:.1f} ms", high < AGE_GOAL
    if hang:
        yield "peak memory at most 96 MB with a backend that hangs", f"{hang / 1e6:.0f} MB", hang <= MEMORY_GOAL


def low_goals(low, idle):
    rows = {(row.who, row.rate): row for row in low}
    bare, ours = (rows.get((who, cases.PACE)) for who in ("bare, atomic", "herald, atomic"))
    if bare and ours:
        yield (f"at {cases.PACE:,} events/s at most {LOW_GOAL * 1e6:.0f} µs each", f"{ours.cost * 1e6:.0f}",
               ours.cost <= LOW_GOAL)
        ratio = ours.broker / bare.broker
        yield f"and of the broker at most {BROKER_GOAL} times a bare client's", f"{ratio:.2f}", ratio <= BROKER_GOAL
        yield "and p99 at most 1 ms above the bare client's", f"{ours.ages[1] - bare.ages[1]:.1f} ms", (
            ours.ages[1] <= bare.ages[1] + 1)
    for row in idle:
        yield (f"{row.case.name}: at most {row.case.share:.1%} of a core and {row.case.memory / 1e6:.0f} MB",
               f"{row.share:.2%}, {row.resident / 1e6:.0f} MB",
               row.share <= row.case.share and row.resident <= row.case.memory)


def load_goals(priority, limited):
    if priority:
        yield (f"p99 of the first topic under 100 ms beside a full one, {cases.CAPACITY} calls/s", f"{priority[1]:.1f} ms",
               priority[1] < 100)
    if limited:
        rate, refused, dead = limited
        yield (f"at least 90 % of {cases.CAPACITY}/s, fewer than 2 % refused, no dead letter",
               f"{rate / cases.CAPACITY:.0%}, {refused:.2%}, {dead}",
               rate >= 0.9 * cases.CAPACITY and refused < 0.02 and dead == 0)


def campaign_goals(both):
    if both:
        campaign = both[-1]
        each = campaign.ended / campaign.recipients
        yield (f"a campaign at most {CAMPAIGN_GOAL} s for a million recipients",
               f"{campaign.ended:.1f} s for {campaign.recipients:,}", each * 1e6 <= CAMPAIGN_GOAL)


def fault_goals(rows):
    for row in rows:
        yield f"{row.pace:,} events/s, {row.about}: nothing lost", f"{row.lost}", row.lost == 0


def bystander_goals(rows):
    for row in rows:
        case, median = row.case, row.percentile(0.5)
        yield (f"{case.name}: codes after {case.median:g} s, the latest after {case.latest:g} s",
               f"{seconds(median)}, {seconds(row.latest)}, {row.never} never",
               median <= case.median and row.latest <= case.latest and row.never == 0)
        if row.loud:
            yield (f"{case.name}: at least {cases.LOUD_SHARE} of the loud user's own rate, in order",
                   f"{row.loud.share:.2f}, {row.loud.out_of_order} out of order",
                   row.loud.share >= cases.LOUD_SHARE and row.loud.out_of_order == 0)


def refused_goals(rows):
    for row in rows:
        case = row.case
        most = f", at most {case.refused:.0%} refused" if case.refused < 1 else ""
        yield (f"{case.name}: at least {case.rate:.0%}{most}, {case.retries} retry records for each, no dead letter",
               f"{row.share:.1%}, {row.refused:.2%}, {row.retries:.2f}, {row.dead}",
               row.share >= case.rate and row.refused <= case.refused and row.retries <= case.retries and row.dead == 0)


def print_goals(found):
    print("\ngoals")
    for what, value, is_met in found:
        print(f"  {'open' if is_met is None else 'met' if is_met else 'missed':<8}{what}: {value}")

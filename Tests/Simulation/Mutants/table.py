"""Deliberate faults in the engine, the lane and the jobs. Each is one exact replacement in a file that mutants.py may
break (BREAKABLE), named without its folder.

When the code changes and a mutant no longer applies, the run says so: write the same fault anew.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str
    original: str
    broken: str
    # The scenario to run instead of any, with its own seed or one after the other: for rare situations.
    scenario: str = ""


# Two replays at a time, of many dead letters, with many faults.
REPLAYS = "replays=2 replayFaults=80 replayKills=10000 isAtomic=true events=800 pauseIfFailures=none"
# Many records are fetched ahead, and few of them may stay in memory.
FETCHING = "isAtomic=true workers=2 fetchedAhead=100"
# The same, and many commits are made without an answer; at the next request, the producer is broken.
DOUBTS = f"{REPLAYS} lostMessages=300000 fatalErrors=30000"
# Two publishers at a time, with many faults, even in topics that grow and have others' open transactions.
PUBLISHERS = (
    "publishers=2 publisherFaults=60 publisherKills=2000 isAtomic=true recipients=60 events=200 growths=3 "
    "openTransactions=300000 lostAcknowledgements=60000 refusedRecords=10000"
)
# The same for a campaign that is to begin later, with clocks that jump.
SCHEDULES = f"{PUBLISHERS} hasSchedule=true"
# The same with audiences that are kept in Kafka, for runners.
DETACHED = f"{SCHEDULES} isDetached=true"
# The same for one that leaves people out.
EXCLUSIONS = f"{PUBLISHERS} hasExclusions=true"
# The same for more recipients, with brokers that refuse more.
REFUSED = PUBLISHERS.replace("recipients=60", "recipients=200").replace("refusedRecords=10000", "refusedRecords=30000")
# Campaigns whose events fail, and a campaigns topic with many faults.
CONTROLS = (
    "isAtomic=true campaignShare=1000000 pauseIfFailures=0.02 campaignsFaults=4 campaignChanges=3 events=900 burst=40 "
    "lostMessages=200000 hasPlainEvents=true workers=1 crashes=1 stops=0 followers=0 twins=0"
)
# Logs of request topics are cut off repeatedly, some while they contain the records of waiting events.
CUTS = "cuts=20 recreations=0 retentions=0"
# Topics that workers consume are recreated repeatedly, and commits are rare.
RECREATIONS = "recreations=10 commitInterval=1000"
# The group loses its offsets, and they are restored from the results.
OFFSETS = "isAtomic=true recreations=0 offsetLosses=3 commitInterval=1000"

# Records are deleted before they are read, and an operator skips them.
DELETIONS = "deletions=10 recreations=0 cuts=0 offsetLosses=0 strangers=0"
# One worker that keeps its partitions to the end: a new assignment would mend what it forgets.
LONE = "workers=1 crashes=0 stops=0 freezes=0 sessionLosses=0 damages=0 fatalErrors=0 twins=0 growths=0"

# Another program commits in the workers' group.
STRANGERS = "strangers=8 isAtomic=true recreations=0 cuts=0 offsetLosses=0"

# Unreadable batches, and records that a client fails to read once.
DAMAGES = "damages=150000 isAtomic=true"

# Users opt out, and events are recalled, all the time.
WORDS = "lastWords=400 isAtomic=true events=800 users=20 burst=10"

# And they have quiet hours of some minutes.
QUIET = f"{WORDS} hasQuietHours=true"

# Users get two promotional events a minute, and some of them many.
CAPS = "lastWords=20 isAtomic=true events=800 users=20 burst=10 capLimit=2 capPer=60000"

MUTANTS = [
    # Caps.
    Mutant(
        "what was delivered before an assignment does not count",
        "Caps.swift",
        "homes[home]?.table.add(user: user, event: delivery.event, source: source, at: at)",
        "_ = (source, at)",
        CAPS,
    ),
    Mutant(
        "promotional events are called before caps are read",
        "Engine+Caps.swift",
        "        guard caps.isRead(home(of: slot)) else {\n            suspend",
        "        guard caps.isRead(home(of: slot)) || service >= 0 else {\n            suspend",
        CAPS,
    ),
    Mutant(
        "caps are read without what the former owner has not committed yet",
        "CapMessage.swift",
        "TopicReader.End.written",
        "TopicReader.End.committed",
        f"{CAPS} lateMarkers=100000 crashes=3 stops=6 sessionLosses=6 freezes=0 outages=0 coordinatorLoads=0 "
        "leaderLosses=0 isBackendCalm=true hasStorms=false",
    ),
    Mutant(
        "a delivery counts twice",
        "CapTable.swift",
        "        remove(place)\n        guard let moment else { return }",
        "        if moment == nil { remove(place) } else { nodes[Int(place)] = node }\n        guard let moment else { return }",
        CAPS,
    ),
    Mutant(
        "caps let one more through",
        "Caps.swift",
        "limit: rule.limit,",
        "limit: rule.limit + 1,",
        CAPS,
    ),
    Mutant(
        "a delivery counts for ever",
        "CapTable.swift",
        "} else if rule.counts(node.source), node.at > since {",
        "} else if rule.counts(node.source), node.at != Self.undelivered {",
        f"{WORDS} capLimit=2 capPer=10000",
    ),
    Mutant(
        "a record of caps has only its own event",
        "Engine+Caps.swift",
        "CapRecord.append(caps.record(home(of: slot), user: events[slot].userHash), to:",
        "CapRecord.append(\n            caps.record(home(of: slot), user: events[slot].userHash)"
        ".filter { $0.event == events[slot].capEvent }, to:",
        CAPS,
    ),
    Mutant(
        "calls under way do not count",
        "CapTable.swift",
        "} else if rule.counts(node.source), node.calls > 0 {",
        "} else if rule.counts(node.source), node.calls > 1_000 {",
        f"{WORDS} capLimit=1 capPer=60000 ordering=none",
    ),
    Mutant(
        "an event is in the way of its own retry",
        "CapTable.swift",
        "if node.event == event {",
        "if node.event == event, node.at <= since {",
        f"{WORDS} capLimit=1 capPer=60000",
    ),
    Mutant(
        "transactional events count",
        "Engine+Caps.swift",
        "caps.isOn && events[slot].eventClass == .promotional",
        "caps.isOn",
        CAPS,
    ),
    # Quiet hours.
    Mutant(
        "a promotional event is called in its user's quiet hours",
        "Engine+LastWord.swift",
        "if case .quiet(let window)? = said, rests",
        "if case .quiet(let window)? = said, service > 0, rests",
        QUIET,
    ),
    Mutant(
        "quiet hours past midnight belong to the day on which they end",
        "QuietWindow.swift",
        "days.contains(Self.weekday(of: day))",
        "days.contains(Self.weekday(of: end > start ? day : day + 1))",
        QUIET,
    ),
    Mutant(
        "quiet hours of an unknown zone are read in the settings' one",
        "QuietWindow.swift",
        "case .unknown: return .ignored(.unknownZone)",
        "case .unknown: number = rules.defaultZone ?? 0",
        QUIET,
    ),
    Mutant(
        "an event's zone counts more than its user's",
        "QuietWindow.swift",
        "switch window.zone == .unnamed ? zone : window.zone {",
        "switch zone == .unnamed ? window.zone : zone {",
        QUIET,
    ),
    Mutant(
        "what quiet hours hold leaves a minute early, again and again",
        "Engine+LastWord.swift",
        "decide(slot, service, .retry(delay: delay, due: end, reason: .quietHours), now: now)",
        "decide(\n                slot, service, .retry(delay: delay, due: end.advanced(by: .minutes(-1)), reason: .quietHours),"
        "\n                now: now)",
        QUIET,
    ),
    Mutant(
        "a broken record ends its user's quiet hours",
        "LastWord.swift",
        "        parts.quiet = former.quiet(remainders)\n",
        "",
        QUIET,
    ),
    Mutant(
        "a result says of another event that quiet hours were ignored",
        "EventTable.swift",
        "        slots[place].quietIgnored = nil\n",
        "",
        QUIET,
    ),
    # The user's last word.
    Mutant(
        "nobody is asked for the user's last word",
        "Engine+LastWord.swift",
        "        guard let lastWord = configuration.lastWord else { return .begins(preferencesOffset: nil) }\n",
        "        guard slot < 0, let lastWord = configuration.lastWord else {\n"
        "            return .begins(preferencesOffset: configuration.lastWord?.preferencesOffset)\n        }\n",
        WORDS,
    ),
    Mutant(
        "the user's last word counts at the first call alone",
        "Engine+LastWord.swift",
        "        guard let lastWord = configuration.lastWord else { return .begins(preferencesOffset: nil) }\n",
        "        guard events.services[events.place(slot, service)].attempts == 0, let lastWord = configuration.lastWord else {\n"
        "            return .begins(preferencesOffset: configuration.lastWord?.preferencesOffset)\n        }\n",
        WORDS,
    ),
    Mutant(
        "the user's last word counts for retries alone",
        "Engine+LastWord.swift",
        "        guard let lastWord = configuration.lastWord else { return .begins(preferencesOffset: nil) }\n",
        "        guard events.services[events.place(slot, service)].attempts > 0, let lastWord = configuration.lastWord else {\n"
        "            return .begins(preferencesOffset: configuration.lastWord?.preferencesOffset)\n        }\n",
        WORDS,
    ),
    Mutant(
        "a result names the preferences of its end, not of its call",
        "Engine+Records.swift",
        "preferencesOffset: service.flatMap { events.services[events.place(slot, $0)].preferencesOffset },",
        "preferencesOffset: service.flatMap { _ in configuration.lastWord?.preferencesOffset },",
        WORDS,
    ),
    Mutant(
        "who has opted out of promotional events gets no transactional ones",
        "LastWord.swift",
        "if eventClass == .promotional, word.isOfPromotional",
        "if word.isOfPromotional",
        WORDS,
    ),
    Mutant(
        "who has opted out of a source gets none of its transactional events",
        "LastWord.swift",
        "guard eventClass == .promotional else { return nil }\n        if source != 0",
        "if source != 0",
        WORDS,
    ),
    Mutant(
        "who has opted out of one push service gets nothing on the others",
        "LastWord.swift",
        "if word.pushServices(remainders).contains(service)",
        "if !word.pushServices(remainders).isEmpty",
        WORDS,
    ),
    Mutant(
        "what is held for its user's preferences is held for ever",
        "LastWord.swift",
        "        current.store(moment.nanoseconds, ordering: .releasing)\n",
        "",
        WORDS,
    ),
    Mutant(
        "a promotional event is called while its worker knows no words",
        "Engine+LastWord.swift",
        "        if isHeld {\n",
        "        if isHeld, configuration.lastWord?.currentAsOf != nil {\n",
        WORDS,
    ),
    Mutant(
        "a promotional event is called however old the words are",
        "LastWord.swift",
        "|| now.time(since: MonotonicTime(nanoseconds: nanoseconds)) > maxLag",
        "|| now.time(since: MonotonicTime(nanoseconds: nanoseconds)) > .hours(1)",
        WORDS,
    ),
    Mutant(
        "transactional events are held for their users' preferences",
        "Engine+LastWord.swift",
        "events[slot].eventClass == .promotional && configuration",
        "configuration",
        WORDS,
    ),
    Mutant(
        "a recall does not count for a replay",
        "Engine+LastWord.swift",
        "identity: events[slot].recallIdentity,",
        "identity: events[slot].event.replays > 0 ? 0 : events[slot].recallIdentity,",
        f"{REPLAYS} lastWords=400 twins=0",
    ),
    Mutant(
        "a recall does not tell sources apart",
        "LastWord.swift",
        "let ofSource: UInt64 = if let source",
        "let ofSource: UInt64 = if let source, source.byteCount == 0",
        WORDS,
    ),
    Mutant(
        "an event that calls itself transactional is, in a promotional topic too",
        "Engine+LastWord.swift",
        "max(ofTopic, slot.event.eventClass ?? .transactional)",
        "slot.event.eventClass ?? ofTopic",
        WORDS,
    ),
    Mutant(
        "a retry's class is that of no topic",
        "Engine+LastWord.swift",
        "let topic = Int(events[slot].requestTopic)",
        "let topic = events[slot].isRetry ? -1 : Int(events[slot].requestTopic)",
        WORDS,
    ),
    Mutant(
        "a broken record opts its user in",
        "LastWord.swift",
        "        parts.sources.formUnion(before.sources)\n",
        "",
        WORDS,
    ),
    Mutant(
        "a broken record opts in who has quiet hours",
        "LastWord.swift",
        "        if before.isEmpty { before.flags = Word.promotional }\n",
        "        if former.rawValue == 0 { before.flags = Word.promotional }\n",
        QUIET,
    ),
    Mutant(
        "the former words are gone as soon as the topic is read again",
        "LastWord.swift",
        "        isReadingAgain = true\n",
        "        words.replaceAll { _ in 0 }\n",
        WORDS,
    ),
    # Brokers that do not answer.
    Mutant(
        "a partition about which no broker answers begins at its first record",
        "Lane+Assignments.swift",
        "start.committed.offset == Offset.none && start.evidence != .absent",
        "start.committed.offset == Offset.none && start.evidence != .absent && !start.isUnanswered",
        "unanswered=200000 isAtomic=true",
    ),
    # Records that were deleted before they were read.
    Mutant(
        "a partition with lost records is not looked at again",
        "Lane+Records.swift",
        "        io.findRange(of: partition, question, after: Self.lostPause)\n    }\n\n    /// Reads",
        "    }\n\n    /// Reads",
        scenario=f"{DELETIONS} {LONE}",
    ),
    Mutant(
        "a partition continues at an offset before the one to which lost records are skipped",
        "PartitionTable.swift",
        "tracker?.reachEnd(offset) == true else { return false }\n        all[Int(partition)].expected",
        "tracker?.reachEnd(offset - 1) == true else { return false }\n        all[Int(partition)].expected",
        DELETIONS,
    ),
    Mutant(
        "what was taken before lost records counts as done when they are skipped",
        "PartitionTable.swift",
        "        guard all[Int(partition)].tracker?.reachEnd(offset) == true else { return false }",
        "        guard all[Int(partition)].tracker != nil else { return false }\n"
        "        all[Int(partition)].tracker = OffsetTracker(restartingAt: offset)",
        DELETIONS,
    ),
    # Another program in the group.
    Mutant(
        "offsets that another program has committed go unnoticed",
        "PartitionTable.swift",
        "if map == nil || partition.metadata.isEmpty, let former",
        "if map == nil, let former",
        STRANGERS,
    ),
    Mutant(
        "how far a partition was done is forgotten when it goes",
        "PartitionTable.swift",
        "former[topics[partition.topic].name, default: [:]][partition.number] = done",
        "former[topics[partition.topic].name, default: [:]][partition.number] = 0",
        STRANGERS,
    ),
    Mutant(
        "what waited for its offset makes a worker forget how far it was done",
        "PartitionTable.swift",
        "guard let done = partition.tracker?.watermark else { continue }",
        "let done = partition.tracker?.watermark",
        f"{STRANGERS} unanswered=200000",
    ),
    Mutant(
        "what others have committed is said of Herald's own offsets",
        "PartitionTable.swift",
        "if map == nil || partition.metadata.isEmpty, let former",
        "if let former",
        STRANGERS,
    ),
    # Batches that can't be read.
    Mutant(
        "a dead letter of what can't be read is tried again with a value",
        "Production.swift",
        "omissions = destination == .deadLetter(.unreadable) ? .value : []",
        "omissions = []",
        f"{DAMAGES} replays=2 oversized=10000 unknownLimits=300000 refusedRecords=40000",
    ),
    Mutant(
        "what lies behind a batch in question is taken",
        "PartitionTable.swift",
        "        all[place].expected = Partition.inQuestion\n        return",
        "        return",
        DAMAGES,
    ),
    Mutant(
        "a client's error is proof enough",
        "Lane+Unreadable.swift",
        "            engine.endQuestion(of: index)\n",
        "            let batch = question.wanted..<question.wanted + 1\n"
        "            _ = engine.batchIsUnreadable(index, batch, reason: \"\", answering: question, now: io.now)\n",
        DAMAGES,
    ),
    Mutant(
        "a partition is not read again behind a batch in question",
        "Lane+Unreadable.swift",
        "        readAgain()\n",
        "",
        DAMAGES,
    ),
    Mutant(
        "a batch that nobody can read is done before its dead letter",
        "Engine+Unreadable.swift",
        "            committer.noteNews()\n            counters.accepted += 1\n",
        "            complete(partition: partition, offset: offset)\n            guard offset < 0 else { return .done }\n",
        DAMAGES,
    ),
    Mutant(
        "only the first offset of a batch is passed over",
        "OffsetTracker.swift",
        "        _ = reachEnd(offsets.upperBound)\n",
        "",
        DAMAGES,
    ),
    # Topics that are recreated.
    Mutant(
        "events of a recreated topic keep their offsets",
        "Engine+Assignment.swift",
        "        events.forgetOffsets(of: partition, from: offset)\n",
        "",
        f"isAtomic=true {RECREATIONS}",
    ),
    Mutant(
        "a recreated topic begins behind what it has",
        "Engine+Assignment.swift",
        "case .recreated: restart(partition, at: low, reading",
        "case .recreated: restart(partition, at: high, reading",
        f"seed=244 isAtomic=true {RECREATIONS}",
    ),
    # Logs that are cut off.
    Mutant(
        "a log that was cut off is read from its first record",
        "Engine+Assignment.swift",
        "cut(partition, at: first, passing: high, isProven: isProven, reading: reading + 1)",
        "restart(partition, at: low, reading: reading + 1)",
        f"isAtomic=true {CUTS}",
    ),
    Mutant(
        "what was written to a log since it was cut off is passed over",
        "Engine+Assignment.swift",
        "cut(partition, at: first, passing: high, isProven: isProven, reading: reading + 1)",
        "cut(partition, at: high, passing: high, isProven: isProven, reading: reading + 1)",
        f"seed=21 isAtomic=true {CUTS} events=1500 burst=2",
    ),
    Mutant(
        "what is undone below the cut counts as done",
        "PartitionTable.swift",
        "        all[Int(partition)].tracker?.cut(at: offset)\n",
        "        all[Int(partition)].tracker = OffsetTracker(restartingAt: offset)\n",
        f"isAtomic=true {CUTS}",
    ),
    Mutant(
        "a younger record below the committed offset counts as done",
        "PartitionTable.swift",
        "            guard !isTaken, offset < doubtful else { return .replaced }\n",
        "            guard !isTaken, offset < doubtful else { return .doneBefore(byOthers: true) }\n",
        f"isAtomic=true {CUTS}",
    ),
    # Commits: promise 1.
    Mutant(
        "commits what is not done",
        "PartitionTable.swift",
        "partition: index, offset: tracker.watermark, metadata: text,",
        "partition: index, offset: tracker.next, metadata: text,",
    ),
    Mutant(
        "the completion map is left out of commits",
        "PartitionTable.swift",
        "        map.evidence = all[Int(index)].evidence\n",
        "        map = CompletionMap()\n        map.evidence = all[Int(index)].evidence\n",
    ),
    Mutant(
        "the completion map is bound to another cluster than the brokers say",
        "PartitionTable.swift",
        "let identity = PartitionIdentity(cluster: cluster, topic: topic, partition: partition.number)",
        'let identity = PartitionIdentity(cluster: "", topic: topic, partition: partition.number)',
    ),
    Mutant(
        "the completion map says the opposite",
        "OffsetTracker.swift",
        "if word & bit(offset) != 0 { map.add(offset..<offset + 1) }",
        "if word & bit(offset) == 0 { map.add(offset..<offset + 1) }",
    ),
    Mutant(
        "the completion map is not read after an assignment",
        "PartitionTable.swift",
        "tracker: start.map { OffsetTracker(startingAt: $0, done: map) },",
        "tracker: start.map { OffsetTracker(startingAt: $0) },",
    ),
    Mutant(
        "an offset is complete while one of its records is on its way",
        "Engine+Production.swift",
        "if productions.remove(id.index, of: slot) {",
        "if productions.remove(id.index, of: slot) || { if case .result = production.content { true } else { false } }() {",
    ),
    Mutant(
        "a commit that failed counts as made",
        "Engine+Commits.swift",
        "        if outcome == .acknowledged {\n            partitions.acknowledge(committer.positions)",
        "        if outcome != .refused {\n            partitions.acknowledge(committer.positions)",
    ),
    Mutant(
        "the end of a partition is believed to be further",
        "OffsetTracker.swift",
        "        skip(to: offset)\n        next = max(next, offset)",
        "        skip(to: offset + 1)\n        next = max(next, offset + 1)",
    ),
    # Transactions: promise 2.
    Mutant(
        "a record is written twice",
        "Engine+Production.swift",
        "            emit(production: index, now: now)\n            next = ",
        "            emit(production: index, now: now)\n            emit(production: index, now: now)\n            next = ",
    ),
    Mutant(
        "a commit does not wait for the producer to take every record",
        "Committer.swift",
        "guard withheld == 0, !hasUnproducedRecords else { return nil }",
        "guard withheld == 0 else { return nil }",
    ),
    Mutant(
        "a few settled events wait for more",
        "Committer.swift",
        "            let others = hasNews || !pending.isEmpty",
        "            let others = hasNews",
    ),
    Mutant(
        "an abort is taken for the end of all that the broker has open",
        "Committer.swift",
        "        openSince = openSince ?? now",
        "        openSince = now",
        scenario="isAtomic=true calm workers=5 partitions=5 events=400 burst=15 isBackendCalm=false "
        "hasPlainEvents=false refusals=20 oversized=300000 unknownLimits=1000000 lostAcknowledgements=5000",
    ),
    Mutant(
        "a record that found the queue full is forgotten by the commit",
        "Committer.swift",
        "guard withheld == 0, !hasUnproducedRecords else { return nil }",
        "guard !hasUnproducedRecords else { return nil }",
    ),
    Mutant(
        "what is settled during a commit belongs to it",
        "Committer.swift",
        "        case .atomic(.open(let attempt, _)) where !attempt.isTrial && members.count < room.count:\n            members.append(id)",
        "        case .atomic(.open(let attempt, _)) where !attempt.isTrial && members.count < room.count, .atomic(.ending(let attempt, .committing, _)) where !attempt.isTrial:\n            members.append(id)",
    ),
    # Records that are too large.
    Mutant(
        "a record that does not fit is left out of its transaction",
        "Engine+Production.swift",
        "if makeFit(id.index, production, failure, emits: committer.state.isOpen, now: now) { return }",
        "if makeFit(id.index, production, failure, emits: false, now: now) { return }",
    ),
    Mutant(
        "an event that was set apart is never tried again",
        "Engine+Production.swift",
        "            committer.suspects.add(id)",
        "            _ = id",
        scenario="isAtomic=true invalidEvents=100000",
    ),
    Mutant(
        "a retry that is too large loses its value",
        "Production.swift",
        "case .retry: [.diagnostics, .headers]",
        "case .retry: [.diagnostics, .headers, .key, .value]",
    ),
    Mutant(
        "an event of which a record is refused comes again with the others, too",
        "EventTable.swift",
        "        slots[Int(slot)].phase.become(.refused)\n",
        "",
    ),
    # Transitions that are in no table.
    Mutant(
        "a cancelled event ends while its slot waits for its moment",
        "Engine+Campaigns.swift",
        "        events.endWait(slot)\n",
        "",
    ),
    Mutant(
        "a quick retry that is due is wanted although its push service is decided by now",
        "Engine+Time.swift",
        "guard events.isCurrent(token.slot), events.services[events.service(token)].phase == .resting else { return }",
        "guard events.isCurrent(token.slot) else { return }",
    ),
    Mutant(
        "an abort drops what was settled",
        "Engine+Transactions.swift",
        "        committer.putBack(again, now: now.monotonic)",
        "        committer.putBack([], now: now.monotonic)\n        for id in again { free(id.index) }",
    ),
    Mutant(
        "an abort forgets that the records come again",
        "Engine+Transactions.swift",
        "            again.append(id)\n",
        "            _ = id\n",
    ),
    Mutant(
        "after an abort everything is called again",
        "Engine+Transactions.swift",
        "            again.append(id)\n",
        "            let partition = events[id.index].partition\n            free(id.index)\n"
        "            partitions.restart(partition, at: partitions[partition].tracker?.watermark ?? 0, reading: 0)\n"
        "            actions.append(.rewind(partition: partition))\n",
    ),
    Mutant(
        "a refused commit counts as made",
        "Engine+Transactions.swift",
        "        case .acknowledged:\n            partitions.acknowledge(committer.positions)",
        "        case .acknowledged, .refused:\n            partitions.acknowledge(committer.positions)",
    ),
    Mutant(
        "a commit that has to be repeated is aborted",
        "Engine+Transactions.swift",
        "        case .failedForNow: committer.askLater(now: now.monotonic)\n        case .refused, .abortable:\n            switch next",
        "        case .failedForNow: actions.append(committer.abort())\n        case .refused, .abortable:\n            switch next",
    ),
    Mutant(
        "a commit in doubt is believed to have failed",
        "CommitState.swift",
        "        case .atomic(.ending(let attempt, .committing, _)), .atomic(.ending(let attempt, .resolving, _)): attempt\n",
        "",
    ),
    Mutant(
        "a commit in doubt is believed to have been made",
        "Engine+Transactions.swift",
        "            case .close:\n                membersWaitAgain(now: now)",
        "            case .close:\n                for id in committer.members { free(id.index) }",
    ),
    # Records that are refused, and brokers that take little in a transaction's time.
    Mutant(
        "events of which a record is refused are tried together again and again",
        "Suspects.swift",
        "let count = min(waiting.count, room, doubtful == 0 ? step : max(1, doubtful / 2))",
        "let count = waiting.count",
        scenario="isAtomic=true calm invalidEvents=100000 refusedRecords=10000 burst=40 maxInFlight=200",
    ),
    Mutant(
        "what is tried is refused for another reason, and goes along with others then",
        "Committer.swift",
        "        if !attempt.isTrial { pending = again + pending }",
        "        pending = again + pending",
        scenario="isAtomic=true invalidEvents=50000 abortableErrors=100000",
    ),
    Mutant(
        "what waits for a topic that takes nothing waits for ever",
        "Suspects.swift",
        "        waiting += held.filter(concerns)\n",
        "",
        scenario="isAtomic=true calm invalidEvents=300000 burst=40 maxInFlight=200",
    ),
    Mutant(
        "calls go on while a topic takes nothing",
        "TopicRefusals.swift",
        "    var nextCall: MonotonicTime { holdsCalls ? nextCallAt : .distantPast }",
        "    var nextCall: MonotonicTime { .distantPast }",
        scenario="isAtomic=true calm invalidEvents=1000000 events=600 burst=40 maxInFlight=200",
    ),
    Mutant(
        "retries go to a topic that refuses them",
        "TopicRefusals.swift",
        "            ? other(than: delay) { !isAvoided($0, now: now) && !unfit.contains($0) } : nil\n",
        "            ? Int?.none : nil\n",
    ),
    Mutant(
        "a retry that does not fit its delay's topic is given up",
        "Engine+Production.swift",
        "            guard failure == .doesNotFit,\n",
        "            guard failure == .tooLarge,\n",
        scenario="hasNarrowTopic=true oversized=100000 unknownLimits=0",
    ),
    Mutant(
        "a delay's topic that refuses records is tried again and again at once",
        "TopicRefusals.swift",
        "        rows[topic].avoidedUntil = now.advanced(by: rows[topic].avoidance)\n",
        "        rows[topic].avoidedUntil = now.advanced(by: .milliseconds(10))\n",
    ),
    Mutant(
        "retries go to a topic that is missing",
        "TopicRefusals.swift",
        "        rows[Self.firstDelay + delay].isMissing || now",
        "        now",
    ),
    Mutant(
        "a commit waits for records of a topic that is missing",
        "Engine+Production.swift",
        "            actions.append(.giveUpRecords)\n",
        "",
    ),
    Mutant(
        "a transaction that failed comes again as it was",
        "TransactionRoom.swift",
        "if events > 0, !isExplained { count = max(1, events / 2) }",
        "",
        scenario="isAtomic=true calm quota=4 events=300 burst=150 maxInFlight=200",
    ),
    # Ownership: epochs and generations.
    Mutant(
        "a transaction goes on after its partitions were lost",
        "Committer.swift",
        "        case .atomic(.open): return abort()",
        "        case .atomic(.open): break",
        scenario="isAtomic=true calm workers=3 partitions=6 events=1200 burst=1 sessionLosses=60 "
        "abortableErrors=300000 commitInterval=1000 maxUnrecorded=3000",
    ),
    Mutant(
        "events outlive a lost assignment",
        "Engine+Assignment.swift",
        "    public mutating func lost(now: Moment) {\n        dropEverything()",
        "    public mutating func lost(now: Moment) {",
    ),
    Mutant(
        "an answer is taken for another event's",
        "EventTable.swift",
        "slots[Int(id.index)].generation == id.generation\n            && ",
        "",
    ),
    # Calls: promise 3.
    Mutant(
        "a drain is ignored",
        "Engine+Assignment.swift",
        "stop(leaving: true, timeout: configuration.drainTimeout, now: now)",
        "break",
    ),
    Mutant(
        "a drain does not leave the group",
        "Engine+Assignment.swift",
        "stop(leaving: true, timeout: configuration.drainTimeout, now: now)",
        "stop(leaving: false, timeout: configuration.drainTimeout, now: now)",
    ),
    Mutant(
        "a stop does not wait for calls under way",
        "Engine+Stopping.swift",
        "calls.inFlight > 0 || events.refusedCount > 0 || (!committer.state.isAtomic && productions.count > 0)",
        "events.refusedCount > 0 || (!committer.state.isAtomic && productions.count > 0)",
    ),
    Mutant(
        "a stop forgets what is known already",
        "Engine+Stopping.swift",
        "guard hasFacts || isDeleted(slot), let shortest",
        "guard !hasFacts, let shortest",
    ),
    Mutant(
        "attempts are not counted",
        "EventTable.swift",
        "        services[place(slot, Int(failure.service))].attempts += 1\n",
        "",
    ),
    Mutant(
        "a retry does not wait for its moment",
        "Engine+Intake.swift",
        "if events[slot].isRetry, !isAsked, let written = events[slot].event.dueAt {",
        "if false, !isAsked, let written = events[slot].event.dueAt {",
    ),
    Mutant(
        "what was delivered without a title does not say so",
        "Engine+Records.swift",
        "guard outcome == .delivered, let service else { return [] }",
        "guard outcome == .expired, let service else { return [] }",
    ),
    Mutant(
        "every push service is taken to carry what one does",
        "EngineConfiguration.swift",
        "return carriedContent.indices.contains(service) ? content.subtracting(carriedContent[service]) : content",
        "return content.subtracting(carriedContent.first ?? [])",
    ),
    Mutant(
        "an outage costs attempts",
        "Engine+Calls.swift",
        "            beginOutage(reason, status: result.status, now: now)\n            want(slot, service, now: now)",
        "            beginOutage(reason, status: result.status, now: now)\n            retry(slot, service, result, now: now, entropy: entropy)",
    ),
    Mutant(
        "calls go on while nothing can be recorded",
        "Exposure.swift",
        "        return .unrecorded(since: oldest)\n",
        "        return nil\n",
    ),
    Mutant(
        "a commit that failed counts as recorded for the exposure",
        "Exposure.swift",
        "        waitingSince = since\n        committingSince = nil",
        "        _ = since\n        committingSince = nil",
    ),
    Mutant(
        "a worker that stood still calls before it has shown that it is a member",
        "Exposure.swift",
        "    mutating func stoodStill(after sequence: UInt64) { unproven = sequence }",
        "    mutating func stoodStill(after sequence: UInt64) {}",
    ),
    # Order and bounds: promises 4 and 6.
    Mutant(
        "the next event of a user is called too soon",
        "EventTable.swift",
        "guard order.enter(slot, line: line) else {",
        "guard order.enter(slot, line: line) || slot % 7 == 0 else {",
    ),
    Mutant(
        "calls in flight have no bound",
        "CallTracker.swift",
        "busy < concurrency.limit && inFlight < ceiling",
        "true",
    ),
    # Calls in flight: promise 7.
    Mutant(
        "a slow backend counts as overloaded",
        "AdaptiveConcurrency.swift",
        "        threshold = .infinity\n        exact = min(max(load.limit, 2 * load.mostInFlight), Double(ceiling))\n",
        "        threshold = exact\n",
    ),
    Mutant(
        "an overloaded backend counts as slow",
        "AdaptiveConcurrency.swift",
        "func expected(inFlight: Double) -> Double { milliseconds * (1 + inFlight / self.inFlight) / 2 }",
        "func expected(inFlight: Double) -> Double { inFlight < self.inFlight ? 0 : .infinity }",
    ),
    Mutant(
        "a round waits for its slowest calls",
        "CallRound.swift",
        "return 4 * (measured + unmeasured) >= 3 * count",
        "return measured >= count",
    ),
    Mutant(
        "one user's events take every slot",
        "Engine+UserBackpressure.swift",
        "let hasRoom = line < share ",
        "let hasRoom = line >= 0 || line < share ",
    ),
    Mutant(
        "an event goes before earlier ones of its user that are in delay topics",
        "UserBackpressure.swift",
        "        return offset <= earliest\n",
        "        return earliest < 0 || offset >= 0\n",
    ),
    Mutant(
        "a loud user of whom nothing is in memory waits for his events as any other",
        "UserBackpressure.swift",
        "static let returnsPerSecondWhenIdle = 16_000",
        "static let returnsPerSecondWhenIdle = 2_000",
    ),
    Mutant(
        "the first record of a long delay holds back what other delays give back",
        "Engine+UserBackpressure.swift",
        "wait <= UserBackpressure.horizon else {",
        "wait <= .max else {",
    ),
    Mutant(
        "calls that may hang take every place",
        "CallTracker.swift",
        "var hasRoomForSuspect: Bool { suspects < roomForSuspects }",
        "var hasRoomForSuspect: Bool { true }",
    ),
    Mutant(
        "calls that may hang are counted for ever",
        "CallTracker.swift",
        "        if wasSuspect { suspects -= 1 }\n",
        "",
    ),
    Mutant(
        "a part of a split event is lost",
        "Engine+Settlement.swift",
        "guard !grouped.contains(service), var copy = state.verdict.copy(for: service) else { continue }",
        "guard grouped.isEmpty, var copy = state.verdict.copy(for: service) else { continue }",
        scenario="isAtomic=true calm workers=2 events=1500 users=300 burst=2 isBackendCalm=false "
        "hasStorms=true immediate=1 serviceCallsPerSecond=1,2,50",
    ),
    # Duplicates.
    Mutant(
        "what was dealt with before does not count for duplicates",
        "Engine+Intake.swift",
        "            if byOthers {\n",
        "            if false, byOthers {\n",
    ),
    Mutant(
        "a first one is a duplicate of what an earlier owner dealt with",
        "DuplicateWindow.swift",
        "        case .dealtWith, .underWay, .retrying: false\n",
        "        case .dealtWith: true\n        case .underWay, .retrying: false\n",
    ),
    Mutant(
        "the same identifier of another user is a duplicate",
        "DuplicateWindow.swift",
        "        hasher.add(user)\n        hasher.add(field: id)",
        "        hasher.add(user)",
    ),
    Mutant(
        "what became of a notification is mixed with what was known before",
        "DuplicateWindow.swift",
        "        hashes[position] = hashes[position] & PositionIndex.hashMask | UInt64(fate.rawValue)",
        "        hashes[position] |= UInt64(fate.rawValue)",
    ),
    # Limits and holds.
    Mutant(
        "a push service is called while it is paused",
        "CallGate.swift",
        "var moment = services[service].pausedUntil ?? MonotonicTime.distantPast",
        "var moment = MonotonicTime.distantPast",
        scenario="calm workers=4 partitions=4 events=1500 users=200 burst=2 isBackendCalm=false "
        "hasStorms=true storm=capacity",
    ),
    Mutant(
        "calls do not count for the limit",
        "CallGate.swift",
        "        total?.take(now: now)\n        services[service].limit?.take(now: now)\n",
        "",
    ),
    Mutant(
        "the dead-letter breaker does not open",
        "Engine+Health.swift",
        "        beginOutage(.deadLetterBreaker, status: status, source: source, now: now)\n        return true",
        "        return false",
    ),
    Mutant(
        "a call that fails in an outage because of the breaker counts",
        "BackendHealth.swift",
        "case .transient, .throttled, .unanswered: self == .breaker || isProbe",
        "case .unanswered: isProbe\n"
        "        case .transient, .throttled: self == .breaker || isProbe",
    ),
    Mutant(
        "a call that may have arrived, and must not be repeated, is repeated",
        "Engine+Calls.swift",
        "!configuration.repeatsUnanswered && result.verdict == .unanswered(mayHaveArrived: true)",
        "false",
    ),
    Mutant(
        "a hub whose quota is used up throttles, and nothing holds",
        "Engine+Calls.swift",
        "        case .outage(let reason):\n",
        "        case .outage where result.status == 403: retry(slot, service, result, now: now, entropy: entropy)\n"
        "        case .outage(let reason):\n",
    ),
    Mutant(
        "a notification that is too large is tried again",
        "Engine+Calls.swift",
        "case .oversized: decide(slot, service, .dead(.oversized), now: now)",
        "case .oversized: want(slot, service, now: now)",
    ),
    Mutant(
        "exhausted retries are a sign of a wrong path",
        "Engine+Calls.swift",
        "        case .attemptsExhausted: decide(slot, service, .dead(.attemptsExhausted), now: now)",
        "        case .attemptsExhausted:\n            if trips(slot, service, result.status, now: now) { want(slot, service, now: now) } "
        "else { decide(slot, service, .dead(.attemptsExhausted), now: now) }",
    ),
    Mutant(
        "a user who fails again and again counts each time",
        "Breaker.swift",
        "        if failing[index] != mark {",
        "        if true {",
    ),
    Mutant(
        "retries of what failed before are signs of an outage although others got through",
        "Engine+Health.swift",
        "if let before, health.lastPass >= before { return nil }",
        "",
    ),
    Mutant(
        "a user who is rejected again and again counts each time",
        "DeadLetterBreaker.swift",
        "if !answers.contains(where: { $0.user == user && $0.status == status }) {",
        "if true {",
    ),
    Mutant(
        "few users look like a wrong path",
        "DeadLetterBreaker.swift",
        "bad >= Self.users(of: rule)",
        "bad >= 1",
    ),
    Mutant(
        "probes ask those first who wait longest, and nobody else",
        "Engine+Probes.swift",
        "let isNewest = outage.probes / requests % 2 == 1",
        "let isNewest = false",
    ),
    Mutant(
        "probes ask those who failed before",
        "Engine+Probes.swift",
        "        if outage.hasOthers {",
        "        if false {",
    ),
    Mutant(
        "an outage probes with several calls at once",
        "Engine+Probes.swift",
        "guard let outage, outage.probe == nil, outage.reason",
        "guard let outage, outage.reason",
    ),
    Mutant(
        "whichever class had the last turn goes on",
        "CallQueue.swift",
        "            if credits[number] > 0, !waiting[number]",
        "            if !waiting[number]",
    ),
    # Campaigns.
    Mutant(
        "what a campaign's users are answered stops everybody",
        "Engine+Health.swift",
        "        if countsForCampaign(slot, service, status, now: now) { return false }\n",
        "",
    ),
    Mutant(
        "a go for one hold lets a campaign pass the others, too",
        "CampaignHolds.swift",
        "sizes.filter { $0 > passed && $0 >= published }.min()",
        "sizes.filter { passed == 0 && $0 >= published }.min()",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a campaign that is held is not to be paused",
        "Engine+Campaigns.swift",
        "        if case .holds(let action) = rejection { actions.append(action) }\n",
        "",
    ),
    Mutant(
        "what is wanted of a campaign is called although it does not run",
        "Engine+Calls.swift",
        "if stopsForCampaign(slot, service, now: now) || waitsForHold(",
        "if waitsForHold(",
    ),
    Mutant(
        "calls that wait already are made although their campaign does not run any more",
        "Engine+Campaigns.swift",
        "case .wanted, .awaitingCredentials, .resting: _ =",
        "case .wanted: break\n            case .awaitingCredentials, .resting: _ =",
    ),
    Mutant(
        "a retry partition stays blocked behind a cancelled event",
        "Engine+Campaigns.swift",
        "        if events[slot].holdsSource { releaseSource(slot) }\n",
        "",
    ),
    Mutant(
        "what is cancelled of an event is settled again as a retry",
        "Engine+Settlement.swift",
        "        case .none, .delivered, .duplicate, .cancelled, .suppressed: nil\n        case .expired:",
        "        case .none, .delivered, .duplicate, .suppressed: nil\n        case .cancelled:\n            EventCopy(\n"
        "                destination: .retry(delay: 0, dueAt: WallTime(milliseconds: 0), reason: nil), services: services)\n"
        "        case .expired:",
    ),
    # Retries before the expiry.
    Mutant(
        "an event expires although a shorter delay than the next one would have ended in time",
        "RetryPolicy.swift",
        "return max(delays[0], asked, expiresAt",
        "return max(delay, asked, expiresAt",
        "delays=1s,30s,5m immediate=0",
    ),
    # Trouble of others: promise 7.
    Mutant(
        "one user who is refused blames the credentials at once",
        "Engine+Credentials.swift",
        "guard users >= most, witnesses.isSubset(of: refusing) else { return }",
        "guard users > 0 else { return }",
    ),
    Mutant(
        "users who are refused twice blame the credentials, whoever is accepted among them",
        "Engine+Credentials.swift",
        "guard users >= most, witnesses.isSubset(of: refusing) else { return }",
        "",
    ),
    Mutant(
        "one user who is refused holds a push service",
        "Credentials.swift",
        "return row.count >= most && services[service].refusedAgain.count >= most ? row : nil",
        "return row.isEmpty || most == 0 ? nil : row",
    ),
    Mutant(
        "a hold of a push service never ends",
        "Engine+Holds.swift",
        "if health.holds[service]?.judgeProbe(result, now: now.monotonic) == true {",
        "if health.holds[service]?.judgeProbe(result, now: now.monotonic) == nil {",
        scenario="serviceRefusals=3",
    ),
    Mutant(
        "a hold of a push service holds the others",
        "CallGate.swift",
        "guard isLimited else { return closed.isEmpty ? .all : waiting.subtracting(closed) }",
        "guard isLimited else { return closed.isEmpty ? .all : PushServiceSet() }",
        scenario="serviceRefusals=3",
    ),
    Mutant(
        "what is known of an event waits for the hold of another push service",
        "Engine+Holds.swift",
        "        events[slot].wasCalled && events[slot].open != events[slot].event.pushServices\n",
        "        false\n",
        scenario="serviceRefusals=3 forbidden=0",
    ),
    Mutant(
        "a hold's probe without an answer counts",
        "ServiceHold.swift",
        "default: reason.explains(result, status: status, isProbe: isProbe)",
        "default: reason.explains(result, status: status, isProbe: false)",
        scenario="seed=21 serviceRefusals=3 hasStorms=false unanswered=300000 isAtomic=true",
    ),
    Mutant(
        "a hold has all of its calls as probes",
        "ServiceHold.swift",
        "        probe = token\n        probes += 1\n",
        "        probes += 1\n",
        scenario="serviceRefusals=3",
    ),
    Mutant(
        "refusals that come as often at a lower rate are tried once more",
        "RateTrial.swift",
        "guard mayBeClear, refusals >= Self.clear,",
        "guard mayBeClear, refusals < 0,",
    ),
    Mutant(
        "users who are refused again while others get through are no evidence",
        "UserContrast.swift",
        "refused >= Self.again * asked && refused - usual",
        "refused > 2 * asked && refused - usual",
    ),
    Mutant(
        "what gets through among refusals tells no rate",
        "RefusalSum.swift",
        "Self.mixed.contains(share) && Self.areMixed(",
        "share < 0 && Self.areMixed(",
    ),
    Mutant(
        "who is refused with a former password is rejected when others are accepted with the new one",
        "Engine+Credentials.swift",
        "if before != 0 && credentials.isOutdated(events.services[index].sequence) {",
        "if before == .max {",
        scenario="calm workers=4 partitions=4 events=2000 users=400 burst=2 hasStorms=true storm=password",
    ),
    Mutant(
        "who was refused in an outage is rejected when others are accepted after it",
        "Engine+Health.swift",
        "        credentials.outdate(upTo: calls.sequence)\n",
        "",
        scenario="calm workers=4 partitions=4 events=2000 users=400 burst=2 hasStorms=true storm=password",
    ),
    Mutant(
        "calls that hang keep their places",
        "CallTracker.swift",
        "var busy: Int { inFlight - hanging }",
        "var busy: Int { inFlight }",
    ),
    Mutant(
        "one refusal with Retry-After pauses its push service",
        "AdaptiveRate.swift",
        "        let asked = retryAfter ?? .zero\n",
        "        let asked = retryAfter ?? .zero\n        if asked > .zero { return asked }\n",
    ),
    Mutant(
        "retries of refused calls, and users who were refused before, speak for the push service",
        "AdaptiveRate.swift",
        "        let silence = now < dependsOnUserUntil",
        "        if now > .distantPast { return true }\n        let silence = now < dependsOnUserUntil",
    ),
    # The lane: it carries out what the engine decides.
    Mutant(
        "an acknowledgement is told of the next record in its place",
        "Lane+Producer.swift",
        "                engine.delivered(id, now: now)",
        "                engine.delivered(ProductionID(index: id.index, generation: id.generation &+ 1), now: now)",
    ),
    Mutant(
        "the lane releases a record when it is produced",
        "Lane+Producer.swift",
        "        case .accepted: break\n",
        "        case .accepted: record.release()\n",
    ),
    Mutant(
        "the lane keeps a record that the engine has released",
        "Lane.swift",
        "        records[Int(slot)] = nil\n        record.release()",
        "        record.release()",
    ),
    Mutant(
        "the lane never gives a record back",
        "Lane.swift",
        "        records[Int(slot)] = nil\n        record.release()",
        "        records[Int(slot)] = nil",
    ),
    Mutant(
        "a record that found the producer's queue full is not offered again",
        "Lane+Producer.swift",
        "            engine.failed(id, .queueFull, now: now)",
        "            break",
    ),
    Mutant(
        "the lane takes a refused record for written",
        "Lane+Producer.swift",
        "        case .refused(let error): failed(id, error, now: now)",
        "        case .refused: break",
    ),
    Mutant(
        "the outcome of a commit is told of the next one",
        "Lane+Transactions.swift",
        "            engine.committed(sequence: sequence, outcome, now: now)",
        "            engine.committed(sequence: sequence + 1, outcome, now: now)",
    ),
    Mutant(
        "the group's refusal of a commit is taken for a passing one",
        "Lane+Commits.swift",
        "        return error.isOfMembership ? .refused : .failedForNow\n",
        "        return error.isOfMembership ? .acknowledged : .failedForNow\n",
    ),
    Mutant(
        "a request that was sent twice is forgotten when one copy is answered",
        "ControlRequests.swift",
        "    public var mayArriveLate: Bool { unansweredCount > 0 }",
        "    public var mayArriveLate: Bool { unansweredCount > 1 }",
    ),
    Mutant(
        "a worker that its own late claim has fenced takes itself for a rival",
        "Engine+Transactions.swift",
        "            !committer.takeLateClaim()",
        "            true || !committer.takeLateClaim()",
    ),
    Mutant(
        "the lane writes with a producer that an abort has used up",
        "Lane+Transactions.swift",
        "            if error.code != KafkaError.Code.inconsistent { reportOnce(error, now: now) }",
        "            if error.code == KafkaError.Code.inconsistent { return }\n"
        "            reportOnce(error, now: now)",
    ),
    Mutant(
        "an abort is taken for a commit",
        "Lane+Transactions.swift",
        "            engine.aborted(outcome, now: now)",
        "            engine.committed(sequence: 0, outcome, now: now)",
    ),
    Mutant(
        "an answer that comes late is told of the event that has its place now",
        "Lane+Calls.swift",
        "            engine.answer(token, call.result, now: now, entropy: io.entropy())",
        "            let slot = SlotID(index: token.slot.index, generation: engine.slot(token.slot.index).generation)\n"
        "            let token = CallToken(slot: slot, service: token.service)\n"
        "            engine.answer(token, call.result, now: now, entropy: io.entropy())",
    ),
    Mutant(
        "Retry-After is not read",
        "Engine+Calls.swift",
        "            retryAfter: result.retryAfter,\n            firstAttemptAt",
        "            retryAfter: nil,\n            firstAttemptAt",
    ),
    Mutant(
        "lost partitions are taken for revoked ones",
        "Lane+Assignments.swift",
        "            } else if lost {\n",
        "            } else if lost, assignment < 0 {\n",
    ),
    Mutant(
        "nobody notices that the process stood still",
        "Lane.swift",
        "            engine.stoodStill(for: passed - timeout)",
        "            _ = passed - timeout",
    ),
    Mutant(
        "a queue that has filled is not looked into",
        "Lane.swift",
        "            io.filledQueues(all: isPoll) { engine.recordsArrived(in: $0) }\n",
        "",
    ),
    Mutant(
        "a turn does not wait for what the engine wants next",
        "Lane+Timers.swift",
        "        case .engine: engine.nextWake\n",
        "        case .engine: nil\n",
    ),
    # Settings that change.
    Mutant(
        "a lower limit of calls in flight is not used",
        "CallTracker.swift",
        "        self.ceiling = ceiling\n        concurrency.use(ceiling: ceiling)",
        "        if ceiling > self.ceiling { self.ceiling = ceiling; concurrency.use(ceiling: ceiling) }",
    ),
    Mutant(
        "a lower limit per second counts from the next assignment on",
        "CallGate.swift",
        "        for (service, limit) in zip(services.indices, limits) { services[service].limit.use(perSecond: limit) }\n",
        "",
    ),
    Mutant(
        "a breaker that is turned off goes on with its outage",
        "Engine+LiveConfiguration.swift",
        "if health.isUnfounded(by: live) { endOutage(now: now) }",
        "_ = health.isUnfounded(by: live)",
        scenario="calm workers=4 partitions=4 events=2000 users=400 burst=2 isBackendCalm=false "
        "hasStorms=true storm=failures breaker=0.5/10 settingsChanges=60",
    ),
    Mutant(
        "events get slots for which the lane has no place",
        "Lane.swift",
        "        records += Array(repeating: nil, count: engine.capacity - records.count)\n",
        "",
        scenario="calm workers=5 partitions=5 events=3000 users=1000 burst=50 maxInFlight=1 "
        "settingsChanges=60",
    ),
    Mutant(
        "answers are judged by the statuses of the start",
        "Lane.swift",
        "        io.use(settings)\n",
        "",
    ),
    # A follower of a hub's messages: each is reported once.
    Mutant(
        "a follower tells again what the note with its offset says is told",
        "FeedbackMachine.swift",
        "                    done = map\n",
        "                    _ = map\n",
    ),
    Mutant(
        "a follower takes an answer to a former question for one to a new one",
        "FeedbackEngine.swift",
        "lastToken = former?.lastToken ?? 0",
        "lastToken = 0",
        scenario="seed=65 isAtomic=true followers=3 followerFaults=80 followerKills=0 fatalErrors=200000 "
        "abortableErrors=200000",
    ),
    Mutant(
        "a follower passes a message that has not come yet",
        "FeedbackEngine.swift",
        "        _ = partitions[partition]?.tracker.reachEnd(offset)\n",
        "        _ = partitions[partition]?.tracker.reachEnd(offset + 1)\n",
    ),
    Mutant(
        "a job that rests never wakes",
        "PublicationMachine.swift",
        "        case .watching(let end), .resting(let end): moments.append(end)\n",
        "        case .watching(let end): moments.append(end)\n        case .resting: break\n",
    ),
    Mutant(
        "feedback is taken for the news of devices",
        "FeedbackMachine.swift",
        "case .feedback: engine.committed()",
        "case .feedback: return [.devicesWritten]",
    ),
    Mutant(
        "a job does not do what is due",
        "JobDriver.swift",
        "        machine.advance(now: io.now)\n",
        "",
    ),
    Mutant(
        "a batch whose commit failed for now counts as written",
        "BatchWriter.swift",
        "        guard case .committing(var attempt, _) = state else { return }\n        guard let error else {",
        "        guard case .committing(var attempt, _) = state else { return }\n"
        "        guard let error, outcome != .failedForNow else {",
    ),
    Mutant(
        "the name is claimed back from whoever's claim has failed a commit",
        "BatchWriter.swift",
        "            return abort(attempt, Cause(error: error, isFinal: true, isInDoubt: true), now: now)\n",
        "            return lose(.inDoubt(error))\n",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a batch that was aborted counts as written",
        "BatchWriter.swift",
        "        state.become(.pausing(attempt, until: end))\n",
        "        state = .ready\n        events.append(.written)\n        _ = end\n",
    ),
    Mutant(
        "an audience that was compared to none is said to be another one",
        "AudiencePublication.swift",
        "            guard former.audience == audience.comparedTo else { throw CampaignContinuation.outdated(name) }\n",
        "",
        "seed=6 publishers=2 publisherFaults=60 publisherKills=2000 isAtomic=true recipients=60 events=200 growths=3 "
        "openTransactions=300000 lostAcknowledgements=60000 lostMessages=80000 lateRequests=300000 outages=10 "
        "coordinatorLoads=15",
    ),
    Mutant(
        "a batch is lost with an answer that comes late to its own claim",
        "BatchWriter.swift",
        "        self.lateClaims += lateClaims\n",
        "",
    ),
    Mutant(
        "a transaction that was open for too long is taken for another's fence",
        "BatchWriter.swift",
        ">= configuration.transactionTimeout } ?? true",
        ">= 100 * configuration.transactionTimeout } ?? true",
    ),
    # Jobs on dead letters: each letter once, together with its mark.
    Mutant(
        "a replay marks less than it publishes",
        "LetterBatch.swift",
        "            return (letters.map(\\.record), marks)\n",
        "            return (letters.map(\\.record), Array(marks.dropLast()))\n",
        scenario=REPLAYS,
    ),
    Mutant(
        "a replay does not look for the mark of what was in doubt",
        "ReplayMachine.swift",
        "if aim == .part, work.batch.isMarked(in: work.known.marks) {",
        "if aim == .part, work.batch.parts.isEmpty {",
        scenario=DOUBTS,
    ),
    Mutant(
        "events that were never called hold up all calls while they wait for room",
        "Committer.swift",
        "if !isCalledBeside, !suspects.isWaiting {",
        "if pending.isEmpty, !suspects.isWaiting {",
        scenario=f"seed=17 {DOUBTS}",
    ),
    Mutant(
        "a replay uses the number of a mark in doubt again",
        "LetterPublication.swift",
        "            if aim == .part { batch.become(.inDoubt) }\n",
        "            if aim == .part { batch.become(.inDoubt) }\n            transaction.refused()\n",
        scenario=DOUBTS,
    ),
    Mutant(
        "a replay goes on although the lease is another job's",
        "ReplayMachine.swift",
        "        guard work.known.lease?.job == job else {",
        "        guard work.known.lease != nil else {",
        scenario=REPLAYS,
    ),
    Mutant(
        "a replay begins a batch before the outcomes of the one before",
        "ReplayPace.swift",
        "        if admission.isAtStepEnd, !isBatchOpen(now.monotonic) { beginBatch() }\n",
        "        if admission.isAtStepEnd { beginBatch() }\n",
        scenario=REPLAYS,
    ),
    Mutant(
        "a replay goes on behind a canary that failed",
        "ReplayPace.swift",
        "        if isFailing(isAllSent: isAtEnd || admission.isAtStepEnd) { return .end(.failing) }\n",
        "",
        scenario=REPLAYS,
    ),
    Mutant(
        "a replay's patience runs on in a pause",
        "ReplayMachine.swift",
        "        if pause != nil { work.pace.pause() }\n",
        "",
        scenario=REPLAYS,
    ),
    Mutant(
        "a replay does not count a result that comes before it knows of its commit",
        "LetterPublication.swift",
        "        if batch.isUnderWay(result.origin, replays: result.replays) {\n",
        "        if batch.isUnderWay(result.origin, replays: -1) {\n",
        scenario=DOUBTS,
    ),
    Mutant(
        "a replay publishes in a pause",
        "ReplayPace.swift",
        "        if let pause { return .wait(.paused(by: pause.by, since: pause.since)) }\n",
        "",
        scenario=REPLAYS,
    ),
    Mutant(
        "a replay publishes after it was told to stop",
        "ReplayPace.swift",
        "        if isStopping { return .end(isAtEnd ? .complete : .interrupted) }\n",
        "",
        scenario=REPLAYS,
    ),
    # Records fetched ahead.
    Mutant(
        "what was taken out of a queue and given up is not read again",
        "SourceTable.swift",
        "        for partition in all[source].partitions { actions.append(.rewind(partition: partition)) }\n",
        "",
        scenario=f"{FETCHING} partitions=5 events=800 burst=40 maxFetchedBytes=20000 crashes=4 "
        "isBackendCalm=true hasStorms=false",
    ),
    # Reasons for waiting.
    Mutant(
        "an event of a worker that stops is said to wait for its next turn",
        "Engine+Waiting.swift",
        "        guard case .assigned = membership else { return .stopping }\n",
        "",
    ),
    Mutant(
        "a quick retry is said to be due at the wrong moment",
        "Engine+Waiting.swift",
        "return .quickRetry(until: moment { $0 == .quickRetry(token) })",
        "return .quickRetry(until: events[slot].event.dueAt ?? WallTime(milliseconds: 0))",
    ),
    Mutant(
        "a job whose transaction is under way is said to wait for nothing",
        "PublicationMachine.swift",
        "        if let reason = writer.waiting(now: now) { return reason }\n",
        "",
        scenario=REPLAYS,
    ),
    Mutant(
        "a letter is taken for dealt with before its turn",
        "LetterPublication.swift",
        "        takenTo[entry.partition] = entry.offset\n",
        "        takenTo[entry.partition] = entry.offset + 50\n",
        scenario=REPLAYS,
    ),
    # Publishers of a campaign: each recipient once, as far as possible.
    Mutant(
        "a publisher reads back only what is committed",
        "CampaignMachine.swift",
        "actions.append(.readBack(definition, to: .written))",
        "actions.append(.readBack(definition, to: .committed))",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher learns only what is committed",
        "AudiencePublication.swift",
        "(.learning, .readCampaigns(to: .written))",
        "(.learning, .readCampaigns(to: .committed))",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher keeps the marks of an earlier reading",
        "PublishedEvents.swift",
        "    init(forgetting recipients: inout RecipientSet) { recipients.removeFromAll(.published) }\n",
        "    init(forgetting recipients: inout RecipientSet) {}\n",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher writes a gathered batch in spite of a pause",
        "AudiencePublication.swift",
        "        switch state {\n        case .cancelled: return .end",
        "        switch batch.state == .gathered ? CampaignControl.State.running : state {\n"
        "        case .cancelled: return .end",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher has a refused batch tried again in a pause",
        "CampaignMachine.swift",
        "            if work.isHeld, writing == .part { withdraw(now) }\n",
        "            if work.isHeld, writing == .open { withdraw(now) }\n",
        scenario=f"seed=34 {PUBLISHERS}",
    ),
    Mutant(
        "a publisher begins anew when another has its name",
        "AudiencePublication+Transactions.swift",
        "        case .lost(.fenced(isLong: false)): return .end(.takenOver)\n",
        '        case .lost(.fenced(isLong: false)): return .again(cause: "another publisher", isCounted: false)\n',
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher's own start ends a pause",
        "AudiencePublication.swift",
        "replaced.state == .paused {",
        "replaced.state == .cancelled {",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher publishes before it has read its own start",
        "AudiencePublication.swift",
        "        if isStartUnread { return .wait(.reading(.campaign)) }\n",
        "",
        scenario=f"seed=38 {PUBLISHERS}",
    ),
    Mutant(
        "a publisher takes a cancelled campaign for a paused one",
        "AudiencePublication.swift",
        "        case .cancelled: return .end(.cancelled)\n",
        "        case .cancelled: return .wait(.nextTurn)\n",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "what a publisher was refused once counts for ever",
        "PublicationMachine.swift",
        "        if aim != .open { recoveries = 0 }\n",
        "",
        scenario=f"seed=3 {REFUSED}",
    ),
    Mutant(
        "a publisher counts the outcomes of a former one twice",
        "AudiencePublication+Transactions.swift",
        "resultOffsets: Dictionary(uniqueKeysWithValues: positions.map { (\"\\($0.key)\", $0.value) }))",
        "resultOffsets: [:])",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher's step counts only what this start has published",
        "AudiencePublication.swift",
        "published: progress.events, limit:",
        "published: progress.publishedNow, limit:",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher begins a step before the outcomes of the one before",
        "CampaignPace.swift",
        "openInStep: wait == nil ? 0 : open, now:",
        "openInStep: 0, now:",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher's batch reaches beyond a hold",
        "AudiencePublication.swift",
        "        return .gather(min(limit, end - progress.events))\n",
        "        return .gather(max(limit, end - progress.events))\n",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher that is started again at a hold goes on without a word",
        "AudiencePublication.swift",
        "guard !isComplete, progress.events > 0 else { return nil }\n        let next",
        "guard !isComplete, progress.publishedNow > 0 else { return nil }\n        let next",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a publisher is complete before the last outcomes",
        "AudiencePublication.swift",
        "            return isOver ? .end(.complete) : .wait(.lastOutcomes(openOutcomes, until: nil))\n",
        "            return .end(.complete)\n",
        scenario=f"{PUBLISHERS}",
    ),
    Mutant(
        "a progress record does not count its batch",
        "AudiencePublication+Transactions.swift",
        "published: progress.events + count,",
        "published: progress.events,",
        scenario=f"{PUBLISHERS}",
    ),
    # A campaign that is to begin later.
    Mutant(
        "a publisher publishes before its campaign begins",
        "AudiencePublication.swift",
        "        if let start = start(now) { return .wait(.scheduled(until: start.moment, words: start.words)) }\n",
        "",
        scenario=SCHEDULES,
    ),
    Mutant(
        "a batch that was gathered in time is written before its campaign begins",
        "AudiencePublication.swift",
        "        if let start = start(now) { return .wait",
        "        if batch.state != .gathered, let start = start(now) { return .wait",
        scenario=SCHEDULES,
    ),
    Mutant(
        "the text of a campaign is replaced, and its definition is not",
        "AudiencePublication.swift",
        "        opening.definition = new\n",
        "",
        scenario=SCHEDULES,
    ),
    Mutant(
        "a start that leaves its campaign to others publishes it nevertheless",
        "AudiencePublication.swift",
        "        if order.detaches { return .end(.detached) }\n        if let rejudges",
        "        if let rejudges",
        scenario=DETACHED,
    ),
    Mutant(
        "a runner that is stopped says that somebody has stopped the campaign",
        "AudiencePublication.swift",
        ".end(handsOver && isStored ? .detached : .interrupted)",
        ".end(.interrupted)",
        scenario=DETACHED,
    ),
    # A campaign that leaves people out.
    Mutant(
        "who is left out is published",
        "AudiencePublication.swift",
        "        guard former.isDisjoint(with: [.published, .excluded]) else {\n",
        "        guard !former.contains(.published) else {\n",
        scenario=EXCLUSIONS,
    ),
    # Lost offsets.
    Mutant(
        "a partition whose offset was lost begins at its first record",
        "Lane+Assignments.swift",
        "start.committed.offset == Offset.none && start.evidence != .absent",
        "start.committed.offset == Offset.none && start.evidence == .sought",
        scenario=f"{OFFSETS}",
    ),
    Mutant(
        "what is done beyond an offset that was restored is not known",
        "Lane+Assignments.swift",
        'metadata: isFresh ? "" : start.committed.metadata',
        'metadata: ""',
        scenario=f"{OFFSETS}",
    ),
    Mutant(
        "a request that lives on as a retry is taken for one that nobody has dealt with",
        "OffsetRecovery.swift",
        "        settle(lineage.origin, replays: lineage.replays, lineage.services, at: time)\n",
        "",
        scenario=f"{OFFSETS}",
    ),
    Mutant(
        "each retry of an event is taken for the one that it waits in",
        "OffsetRecovery.swift",
        "        for steps in retries.values where steps.count > 1 { completeFormer(steps) }\n",
        "",
        scenario=f"{OFFSETS}",
    ),
    Mutant(
        "a retry is taken for done with the results of its request's other push services",
        "OffsetRecovery.swift",
        "for step in retries[Event(origin: origin, replays: replays)] ?? [] where step.concerns(services) {",
        "for step in retries[Event(origin: origin, replays: replays)] ?? [] {",
        scenario=f"{OFFSETS}",
    ),
    # A worker's reading of the campaigns topic.
    Mutant(
        "lanes do not hear of what is written while a worker follows",
        "ControlMachine.swift",
        "        if isFollowing { tell() }",
        "",
        scenario=f"seed=1 {CONTROLS}",
    ),
    Mutant(
        "a campaigns topic that was made anew says what the former one said",
        "ControlMachine.swift",
        "            states = CampaignStates()\n",
        "",
        scenario=f"seed=1 {CONTROLS}",
    ),
    Mutant(
        "a campaign is paused for what was counted before an operator resumed it",
        "ControlMachine.swift",
        "            guard control == failures.judged, control.state == .running,",
        "            guard control.state == .running,",
        scenario=f"seed=8 {CONTROLS}",
    ),
    Mutant(
        "a worker that should pause a campaign writes that it runs",
        "ControlMachine.swift",
        "state: .paused, at: now.wall, by: worker,",
        "state: .running, at: now.wall, by: worker,",
        scenario=f"seed=1 {CONTROLS}",
    ),
    Mutant(
        "a pause that could not be written is forgotten",
        "ControlMachine.swift",
        "        self.failures.append(failures)\n        nextWrite",
        "        nextWrite",
        scenario=f"seed=17 {CONTROLS}",
    ),
    Mutant(
        "a pause loses the campaign's bound",
        "ControlMachine.swift",
        "pauseIfFailures: control.pauseIfFailures, cause: .failures",
        "cause: .failures",
        scenario=f"seed=1 {CONTROLS}",
    ),
]

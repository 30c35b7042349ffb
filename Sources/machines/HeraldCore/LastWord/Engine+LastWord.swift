import HeraldBytes
import HeraldEvents
import HeraldKernel
import HeraldTime

/// The users' last words and recalls: looked up immediately before each call, and nowhere before.
///
/// Whatever an event waited for before its call, a word that was applied meanwhile holds for it. Nothing is learned of
/// an event that is not called: limits, breakers and holds see calls alone.
extension Engine {
    /// Notes by what users can opt out of an event, and what recalls it.
    @inline(__always)
    mutating func noteLastWord(_ slot: Int32, value: RawSpan) {
        if configuration.lastWord != nil { noteIdentity(slot, value: value) }
    }

    private mutating func noteIdentity(_ slot: Int32, value: RawSpan) {
        let topic = Int(events[slot].requestTopic)
        let ofTopic = configuration.classes.indices.contains(topic) ? configuration.classes[topic] : .transactional
        let seed = configuration.hashSeed
        let (source, user) = (events[slot].sourceHash, events[slot].userHash)
        guard let lastWord = configuration.lastWord else { return }
        let (identity, kept, eventClass, shift, hasZone) = withSlot(slot) { slot in
            let name = slot.event.bytes(of: slot.event.user, value: value)
            let eventClass = max(ofTopic, slot.event.eventClass ?? .transactional)
            return (
                LastWord.identity(
                    id: slot.event.bytes(of: slot.event.id, value: value), source: source, user: user, seed: seed),
                lastWord.keptHash(of: name), eventClass,
                eventClass == .promotional ? lastWord.quietShift(of: name) : .zero, slot.event.zone.isPresent
            )
        }
        events.setLastWord(slot, identity: identity, kept: kept, eventClass, quietShift: shift)
        if isCapped(slot) { noteCap(slot, value: value) }
        if hasZone { noteZone(slot, lastWord, value: value) }
    }

    private mutating func noteZone(_ slot: Int32, _ lastWord: LastWord, value: RawSpan) {
        let name = withSlot(slot) { $0.event.bytes(of: $0.event.zone, value: value).text }
        events.setZone(slot, lastWord.rules.zone(named: name))
    }

    /// Ends the next call by the user's word, a recall or a cap, or holds it while it is not known what the user has said
    /// last, or got.
    ///
    @inline(__always)
    mutating func lookUpLastWord(_ slot: Int32, _ service: Int, now: Moment) -> LastLook {
        guard let lastWord = configuration.lastWord else { return .begins(preferencesOffset: nil) }
        return look(slot, service, at: lastWord, now: now)
    }

    /// What a look at the user's last word comes to.
    enum LastLook {
        /// The call does not begin.
        case stops
        /// The call may begin, by what the preferences before this offset say; ``LastWord/preferencesOffset``.
        case begins(preferencesOffset: Int64?)
    }

    private mutating func look(_ slot: Int32, _ service: Int, at lastWord: LastWord, now: Moment) -> LastLook {
        // Before the word is looked up: a word that is applied in between must not be missed by a call that it makes due.
        let isHeld = isHeldForLastWord(slot, now: now)
        let offset = lastWord.preferencesOffset
        let said = lastWord.said(
            identity: events[slot].recallIdentity,
            user: lastWord.wordHash(user: events[slot].userHash, kept: events[slot].keptHash),
            source: events[slot].sourceHash,
            campaign: events[slot].campaign, of: events[slot].eventClass, to: service)
        if case .suppressed(let suppression)? = said {
            events.notePreferences(slot, service, before: offset)
            decide(slot, service, .suppressed(suppression), now: now)
            return .stops
        }
        if isHeld {
            suspend(slot, service, since: lastWord.knownUntil(now) ?? now.wall, .preferences, now: now)
            return .stops
        }
        if case .quiet(let window)? = said, rests(slot, service, window, offset, by: lastWord, now: now) {
            return .stops
        }
        return stopsForCaps(slot, service, now: now) ? .stops : .begins(preferencesOffset: offset)
    }

    /// Has a call wait for the end of its user's quiet hours, or ends it when it would expire before.
    ///
    /// False when it may begin.
    private mutating func rests(
        _ slot: Int32, _ service: Int, _ window: QuietWindow, _ preferencesOffset: Int64?, by lastWord: LastWord,
        now: Moment
    ) -> Bool {
        let ruling = lastWord.ruling(
            window, zone: events[slot].zone, shift: events[slot].quietShift, expiresAt: events[slot].event.expiresAt,
            now: now.wall)
        switch ruling {
        case .none: return false
        case .ignored(let why):
            events.noteQuietIgnored(slot, why)
            return false
        case .expires(let end):
            events.notePreferences(slot, service, before: preferencesOffset)
            decide(slot, service, .suppressed(.quietExpired(end)), now: now)
        case .waits(let end) where configuration.retry.delays.isEmpty:
            // Settings forbid it; as with a paused campaign, nothing is called all the same.
            suspend(slot, service, since: end, .quietHours, now: now)
        case .waits(let end):
            let delay = configuration.retry.hop(for: end.time(since: now.wall)) ?? 0
            decide(slot, service, .retry(delay: delay, due: end, reason: .quietHours), now: now)
        }
        return true
    }

    /// Whether a call of the event would be held: it is promotional, and its user may have said something else since.
    func isHeldForLastWord(_ slot: Int32, now: Moment) -> Bool {
        events[slot].eventClass == .promotional && configuration.lastWord?.isBehind(now: now.monotonic) ?? false
    }

    /// Appends what is not known, so that an event is held.
    func appendHold(of slot: Int32, to detail: inout [UInt8]) {
        let home = home(of: slot)
        detail.append(
            contentsOf: caps.isOn && !caps.isRead(home)
                ? "the caps of partition \(home) are being read".utf8
                : "the users' latest preferences are not known".utf8)
    }

    /// Appends why an event was suppressed for a push service, which the service's verdict tells.
    func appendSuppression(
        of slot: borrowing Slot, at index: Int32, to service: Int, value: RawSpan, _ detail: inout [UInt8]
    ) {
        guard case .suppressed(let suppression) = events.services[events.place(index, service)].verdict else { return }
        switch suppression {
        case .optedOut(let what):
            detail.append(contentsOf: "opted out of ".utf8)
            switch what {
            case .all: detail.append(contentsOf: "all".utf8)
            case .promotional: detail.append(contentsOf: "promotional".utf8)
            case .pushService:
                detail.append(contentsOf: "pns:\(configuration.decoder.pushServices.names[service])".utf8)
            case .source:
                detail.append(contentsOf: "source:".utf8)
                slot.event.bytes(of: slot.event.source, value: value).withUnsafeBytes {
                    detail.append(contentsOf: $0)
                }
            }
        case .recalled(let number):
            detail.append(contentsOf: "recalled".utf8)
            let saying = configuration.lastWord?.saying(number) ?? ""
            if !saying.isEmpty { detail.append(contentsOf: " by \(saying)".utf8) }
        case .quietExpired(let end):
            detail.append(contentsOf: "it expires before the end of the user's quiet hours, \(RFC3339.text(end))".utf8)
        case .capped(let rule, let next): detail.append(contentsOf: caps.rules[rule].words(next: next).utf8)
        }
    }
}

extension LastWord {
    /// The moment as of which everything is applied, on the wall clock; `nil` before the topics are read to their ends.
    func knownUntil(_ now: Moment) -> WallTime? { currentAsOf.map { now.wall($0) } }
}

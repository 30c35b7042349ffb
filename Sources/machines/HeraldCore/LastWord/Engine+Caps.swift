import HeraldBytes
import HeraldEvents
import HeraldKernel
public import HeraldTime

/// Caps: how many promotional events a user gets within a time.
///
/// They are looked up last before a call: what waits for anything else is not counted out before it could be called.
extension Engine {
    /// The interval of the look whether another event's call has ended that decides this one.
    static let capPause: Milliseconds = .milliseconds(100)

    /// Notes by what caps count an event.
    mutating func noteCap(_ slot: Int32, value: RawSpan) {
        let (event, source) = withSlot(slot) { slot in
            let id = slot.event.bytes(of: slot.event.id, value: value)
            guard slot.event.source.isPresent else { return (Caps.event(id: id, source: nil), Caps.otherSource) }
            let source = slot.event.bytes(of: slot.event.source, value: value)
            return (Caps.event(id: id, source: source), caps.place(of: source))
        }
        events.setCap(slot, event: event, source: source)
    }

    /// Whether caps count the event.
    func isCapped(_ slot: Int32) -> Bool { caps.isOn && events[slot].eventClass == .promotional }

    /// The home partition of an event's user: that in which the event lies.
    func home(of slot: Int32) -> Int32 { partitions[events[slot].partition].number }

    /// Ends or holds the next call by caps.
    ///
    /// False when it may begin.
    mutating func stopsForCaps(_ slot: Int32, _ service: Int, now: Moment) -> Bool {
        guard isCapped(slot) else { return false }
        guard caps.isRead(home(of: slot)) else {
            suspend(slot, service, since: caps.since, .preferences, now: now)
            return true
        }
        switch capRuling(slot, now: now) {
        case .none: return false
        case .waits:
            events.rest(events.place(slot, service))
            schedule(.quickRetry(events.token(slot, service)), after: Self.capPause, now: now)
        case .capped(let rule, let next): decide(slot, service, .suppressed(.capped(rule: rule, next: next)), now: now)
        }
        return true
    }

    private func capRuling(_ slot: Int32, now: Moment) -> CapTable.Ruling {
        caps.ruling(
            home(of: slot), user: events[slot].userHash, event: events[slot].capEvent, source: events[slot].capSource,
            now: now.wall)
    }

    /// Notes that a call begins.
    mutating func noteCapCall(_ slot: Int32) {
        guard isCapped(slot) else { return }
        caps.begin(
            home(of: slot), user: events[slot].userHash, event: events[slot].capEvent, source: events[slot].capSource)
    }

    /// Notes that a call has ended.
    mutating func noteCapAnswer(_ slot: Int32, isDelivered: Bool, now: Moment) {
        guard isCapped(slot) else { return }
        caps.end(
            home(of: slot), user: events[slot].userHash, event: events[slot].capEvent, source: events[slot].capSource,
            deliveredAt: isDelivered ? now.wall : nil)
    }

    /// Writes the record of what was delivered to an event's user.
    ///
    /// It is made of the table at the moment at which it is written: so it has what earlier ones had, in whichever order
    /// records are written again.
    func writeCaps(of slot: Int32, value: RawSpan, into output: inout OutputRecord) {
        withSlot(slot) { slot in
            slot.event.bytes(of: slot.event.user, value: value).withUnsafeBytes { output.key.append(contentsOf: $0) }
        }
        CapRecord.append(caps.record(home(of: slot), user: events[slot].userHash), to: &output.value)
    }

    // MARK: Reading

    /// The home partitions whose records are to be read at an assignment; none without caps.
    public var homePartitions: [Int32] { caps.partitions }

    /// Takes a record of the caps topic that lies in a home partition.
    ///
    /// - Returns: False when it is broken: then nothing is known of its user.
    public mutating func readCaps(_ home: Int32, key: RawSpan, value: RawSpan?, now: Moment) -> Bool {
        caps.read(
            home, user: ByteHash.hash(key, seed: configuration.hashSeed), value: value, now: now.wall)
    }

    /// Notes that a home partition's records are read up to the end that they had after the assignment.
    public mutating func readCapsToEnd(_ home: Int32) { caps.readToEnd(home) }

    /// The users that caps know something of, and the bytes which that takes.
    public var capsSize: (users: Int, bytes: Int) { caps.size }

    // MARK: Words

    /// Why a resting call waits, if caps hold it.
    func capWait(_ slot: Int32, until: WallTime, now: Moment) -> WaitReason? {
        guard isCapped(slot) else { return nil }
        guard caps.isRead(home(of: slot)) else {
            return .capsBehind(partition: home(of: slot), since: caps.since, until: until)
        }
        return capRuling(slot, now: now) == .waits ? .capOpen(until: until) : nil
    }

    /// Whether caps hold a resting call.
    func isHeldForCaps(_ slot: Int32, now: Moment) -> Bool {
        isCapped(slot) && (!caps.isRead(home(of: slot)) || capRuling(slot, now: now) == .waits)
    }
}

import HeraldBytes
import HeraldCore
package import HeraldEvents
import HeraldTime

/// A question why events wait: each lane answers it at its next turn.
package struct WaitingQuestion: Sendable {
    /// The events in question.
    package var query: WaitingQuery
    /// Receives the lane's answer, on the lane's thread.
    package var answer: @Sendable (WaitingPage) -> Void

    package init(_ query: WaitingQuery, answer: @escaping @Sendable (WaitingPage) -> Void) {
        self.query = query
        self.answer = answer
    }
}

extension Lane {
    /// The lane's knowledge of the events in the query; the earliest ones, if there are too many.
    func waiting(_ query: WaitingQuery, now: Moment) -> WaitingPage {
        let (id, user) = (query.id.map { Array($0.utf8) }, query.user.map { Array($0.utf8) })
        var found: [Int32] = []
        engine.forEachEvent { slot in
            if matches(slot, id: id, user: user, origin: query.origin) { found.append(slot) }
        }
        found.sort { engine.slot($0).takenAt < engine.slot($1).takenAt }
        let shown = found.prefix(WaitingPage.eventLimit)
        return WaitingPage(events: shown.map { waiting($0, now: now) }, hidden: found.count - shown.count)
    }

    private func matches(_ slot: Int32, id: [UInt8]?, user: [UInt8]?, origin wanted: Origin?) -> Bool {
        // The topic's name is made only for a record at the right place.
        if let wanted, engine.slot(slot).failure == nil, engine.slot(slot).event.originOffset != wanted.offset {
            return false
        }
        if let wanted, origin(of: slot) != wanted { return false }
        guard id != nil || user != nil else { return true }
        return withEvent(slot) { event, value in
            (id.map { event.bytes(of: event.id, value: value).hasSameBytes(as: $0.span.bytes) } ?? true)
                && (user.map { event.bytes(of: event.user, value: value).hasSameBytes(as: $0.span.bytes) } ?? true)
        } ?? false
    }

    private func waiting(_ slot: Int32, now: Moment) -> WaitingPage.Event {
        let names = configuration.decoder.pushServices.names
        let waits = engine.waits(of: slot, now: now) { slot in
            let origin = "\(origin(of: slot))"
            return (id(of: slot) ?? origin, origin)
        }
        let taken = now.wall.advanced(by: -now.monotonic.time(since: engine.slot(slot).takenAt))
        return WaitingPage.Event(
            id: id(of: slot), user: text(slot) { $0.user }, origin: "\(origin(of: slot))", takenAt: taken,
            waits: waits.map { services, reason in
                WaitingPage.Wait(reason, pushServices: services.map { names[$0] })
            })
    }

    /// The event's id; `nil` when it has none of its own.
    private func id(of slot: Int32) -> String? {
        engine.slot(slot).event.hasOwnID ? text(slot) { $0.id } : nil
    }

    private func text(_ slot: Int32, _ field: (borrowing DecodedEvent) -> ByteField) -> String? {
        withEvent(slot) { event, value in
            let field = field(event)
            return field.isPresent ? event.bytes(of: field, value: value).text : nil
        } ?? nil
    }

    /// The event's request record: its own, but for a retry or a replay.
    private func origin(of slot: Int32) -> Origin {
        let (topic, number) = engine.position(of: engine.slot(slot).partition)
        let own = Origin(topic: topic, partition: number, offset: engine.slot(slot).offset)
        guard engine.slot(slot).failure == nil, engine.slot(slot).event.originTopic.isPresent else { return own }
        let name = text(slot) { $0.originTopic } ?? topic
        return Origin(
            topic: name, partition: engine.slot(slot).event.originPartition,
            offset: engine.slot(slot).event.originOffset)
    }

    private func withEvent<Result>(
        _ slot: Int32, _ body: (borrowing DecodedEvent, RawSpan) -> Result
    ) -> Result? {
        guard engine.slot(slot).failure == nil, let record = records[Int(slot)] else { return nil }
        return record.withValue { value in
            guard let value else { return nil }
            return engine.withSlot(slot) { body($0.event, value) }
        }
    }
}

/// Names one use of one numbered place: an event's slot, or a record's place in the outbox.
///
/// Answers, acknowledgements and reminders carry it, so that those of an earlier use (an older assignment, for one) are
/// recognised and dropped.
public struct PlaceID<Content>: Hashable, BitwiseCopyable, Sendable {
    /// The place's number, from 0.
    public var index: Int32
    /// The number of uses of the place.
    public var generation: UInt32

    /// The `generation`-th use of place `index`.
    @inlinable
    public init(index: Int32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    /// The identifier in 64 bits, as a producer's opaque value.
    @inlinable
    public var rawValue: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: index)) }

    /// The identifier with this `rawValue`.
    @inlinable
    public init(rawValue: UInt64) {
        self.init(index: Int32(bitPattern: UInt32(truncatingIfNeeded: rawValue)), generation: UInt32(rawValue >> 32))
    }
}

/// Names one event in memory.
public typealias SlotID = PlaceID<Slot>
/// Names one record to be produced.
public typealias ProductionID = PlaceID<Production>

/// Names one call: the event's slot and the push service.
public struct CallToken: Hashable, BitwiseCopyable, Sendable {
    /// The event's slot.
    public var slot: SlotID
    /// The push service's index.
    public var service: UInt8

    /// The call of push service `service` for the event in `slot`.
    @inlinable
    public init(slot: SlotID, service: UInt8) {
        self.slot = slot
        self.service = service
    }

    /// The token in 64 bits: 32 of generation, 8 of service, 24 of slot.
    @inlinable
    public var rawValue: UInt64 {
        UInt64(slot.generation) << 32 | UInt64(service) << 24 | UInt64(UInt32(bitPattern: slot.index) & 0xFF_FFFF)
    }

    /// The token with this `rawValue`.
    @inlinable
    public init(rawValue: UInt64) {
        slot = SlotID(index: Int32(rawValue & 0xFF_FFFF), generation: UInt32(rawValue >> 32))
        service = UInt8(truncatingIfNeeded: rawValue >> 24)
    }
}

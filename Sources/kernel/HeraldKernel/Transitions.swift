/// The states of a machine and their transitions, as data.
///
/// A transition outside the table stops a debug build and the simulation with its name. A release makes no check: then
/// ``CheckedState/become(_:)`` is an assignment.
public struct TransitionTable<Name>: Sendable
where Name: RawRepresentable & CaseIterable & Hashable & Sendable, Name.RawValue == String {
    /// A group of states with the same event and successors.
    public struct Row: Sendable {
        /// The states before.
        public var from: [Name]
        /// The event, in words.
        public var event: String
        /// The states after.
        public var to: [Name]

        /// One row of the table.
        public init(_ from: [Name], _ event: String, _ to: [Name]) {
            self.from = from
            self.event = event
            self.to = to
        }
    }

    /// The rows, in reading order.
    public let rows: [Row]
    private let following: [Name: Set<Name>]

    /// A table of these rows.
    public init(_ rows: [Row]) {
        self.rows = rows
        var following: [Name: Set<Name>] = [:]
        for row in rows { for name in row.from { following[name, default: []].formUnion(row.to) } }
        self.following = following
    }

    /// Whether a state may become another.
    public func allows(_ from: Name, _ to: Name) -> Bool { following[from]?.contains(to) ?? false }
}

/// A state that changes only as its table allows.
public protocol CheckedState: Sendable {
    /// The states' names, without their values.
    associatedtype Name: RawRepresentable & CaseIterable & Hashable & Sendable where Name.RawValue == String

    /// This state's name.
    var name: Name { get }
    /// The allowed transitions.
    static var transitions: TransitionTable<Name> { get }
}

extension CheckedState {
    /// Becomes the next state.
    ///
    /// - Precondition: The table has the transition; checked where `CHECKED_TRANSITIONS` is defined: in debug builds and in
    ///   the simulation.
    @inlinable
    public mutating func become(_ next: Self) {
        #if CHECKED_TRANSITIONS
            precondition(
                Self.transitions.allows(name, next.name), "\(Self.self): \(name.rawValue) → \(next.name.rawValue)")
        #endif
        self = next
    }
}

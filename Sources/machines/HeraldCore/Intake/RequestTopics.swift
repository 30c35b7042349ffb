/// The request topics of the settings, each with its place, by which events are counted.
///
/// There is one place more, ``unknown``, for events whose request topic the settings do not name any more: so however many
/// topics records tell of, the places stay as many as the settings have.
public struct RequestTopics: Sendable {
    private let names: [[UInt8]]

    /// The topics in the order of the settings.
    public init(_ names: [String]) {
        self.names = names.map { Array($0.utf8) }
    }

    /// The place of events from any other topic, which is the last.
    public var unknown: Int { names.count }

    /// A topic's place.
    func place(of name: RawSpan) -> Int {
        name.withUnsafeBytes { name in
            names.firstIndex { $0.count == name.count && $0.elementsEqual(name) } ?? unknown
        }
    }
}

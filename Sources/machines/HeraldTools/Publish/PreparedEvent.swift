package import HeraldEvents

/// An event that was checked, as the record that it becomes.
package struct PreparedEvent: Sendable, Equatable {
    /// The line it came from, from 1.
    package var line: Int
    /// Its id; `nil` when it has none and its place is one.
    package var id: String?
    package var user: String
    package var pushServices: PushServiceSet
    /// The record's value; the key is the user.
    package var value: [UInt8]
    /// Whether it is a CloudEvent in the structured form, as a header has to say.
    package var isCloudEvent = false
}

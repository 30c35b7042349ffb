internal import HeraldBytes
package import HeraldEvents
package import HeraldText
package import HeraldTime

/// What a replay puts in place of what a dead letter says.
package enum Correction: Sendable, Equatable {
    /// These members, in each.
    case members(EventChange)
    /// This value, whole, of the dead letter in this place.
    case value([UInt8], place: String)

    /// For the audit, without texts of messages.
    package var words: String {
        switch self {
        case .members(let change):
            ([
                change.user.map { "user=\($0)" }, change.message.map { "message=(\($0.utf8.count) bytes)" },
                change.pushServices.map { "pns=\($0.joined(separator: ","))" },
            ]
                + ContentField.allCases.map { field in
                    change.content[field].map { "\(field.rawValue)=(\($0.utf8.count) bytes)" }
                }).compactMap(\.self).joined(separator: " ")
        case .value(let value, _): "edited, \(value.count) bytes"
        }
    }

    /// A dead letter's key and value as they are published, and its event.
    package struct Corrected: Sendable, Equatable {
        package var key: [UInt8]?
        package var value: [UInt8]
        /// What the value said before, if it said anything, and says now.
        package var user: (before: String?, after: String)
        package var messageByteCount: (before: Int?, after: Int)
        package var isMessageChanged: Bool
        /// The parts beside the message that are others than before; all that there are now of what was no event.
        package var changedContent: [ContentField]
        package var pushServices: (before: [String], after: [String])
        /// The push services that a worker would have called before; none of what was no event.
        package var formerCalls: [String]
        /// When it ends to be worth sending now.
        package var expiresAt: WallTime?

        package static func == (left: Self, right: Self) -> Bool { left.key == right.key && left.value == right.value }
    }

    /// Applies it; throws with what is wrong when what comes out is still no event.
    package func applied(
        to entry: DeadLetterEntry, _ decoder: RecordDecoder
    ) throws(InvalidArgument) -> Corrected {
        guard let value = entry.value else { throw InvalidArgument("it has no value") }
        let new: [UInt8]?
        switch self {
        case .members(let change): new = change.applied(to: value, headers: entry.headers)
        case .value(let bytes, let place):
            guard entry.place == place else { throw InvalidArgument("it is another than what was edited") }
            new = bytes
        }
        guard let new else { throw InvalidArgument("its value is no JSON object that a member could be set in") }
        let after = try JudgedEvent(new, of: entry, decoder)
        let before = try? JudgedEvent(value, of: entry, decoder)
        // The key chooses the partition, and so the order, of its user.
        let isOtherUser = before?.user != after.user
        let said = before == nil ? SaidMembers(value) : nil
        return Corrected(
            key: isOtherUser ? Array(after.user.utf8) : entry.key, value: new,
            user: (before?.user ?? said?.user, after.user),
            messageByteCount: ((before?.message ?? said?.message)?.utf8.count, after.message.utf8.count),
            isMessageChanged: (before?.message ?? said?.message) != after.message,
            changedContent: ContentField.allCases.filter { field in
                let former = before?.content ?? EventContent()
                return former.fields.contains(field) != after.content.fields.contains(field)
                    || former.text(of: field) != after.content.text(of: field)
            },
            pushServices: (before?.pushServices ?? said?.pushServices ?? [], after.pushServices),
            formerCalls: before?.pushServices ?? [], expiresAt: after.expiresAt)
    }
}

/// What a value says that is no event, member by member: a correction changes some, and the others were there before.
///
/// What is of another type than it should be counts as not said.
private struct SaidMembers {
    let user: String?
    let message: String?
    let pushServices: [String]

    init?(_ value: [UInt8]) {
        guard case .object(let outer)? = try? JSONValue(value.span.bytes) else { return nil }
        // The event, or the CloudEvent that carries it.
        var members = outer
        let isCloudEvent = outer.contains { $0.name == "specversion" }
        if isCloudEvent, case .object(let data)? = outer.last(where: { $0.name == "data" })?.value { members = data }
        func text(_ value: JSONValue?) -> String? { if case .string(let text)? = value { text } else { nil } }
        func member(_ name: String) -> JSONValue? { members.last { $0.name == name }?.value }
        user = text(member("user"))
        message = text(member("message"))
        if case .array(let values)? = member("pns") {
            let names = values.compactMap(text)
            pushServices = names.count == values.count ? names : []
        } else {
            pushServices = text(member("pns")).map { [$0] } ?? []
        }
    }
}

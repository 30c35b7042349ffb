internal import HeraldBytes
package import HeraldText

/// The tag that a user's devices are registered with and notifications are sent to: a text with a place for the user.
package struct HubTagTemplate: Sendable, Hashable {
    private static let userPlace = "{user}"

    package let start: String
    package let end: String

    /// Throws unless the text holds `{user}` exactly once, and else only what a tag may hold: an expression could reach
    /// all users.
    package init(_ text: String) throws(InvalidArgument) {
        let parts = text.split(separator: Self.userPlace, omittingEmptySubsequences: false)
        let isClean = text.replacing(Self.userPlace, with: "").utf8.allSatisfy(ASCIISet.tag.contains)
        guard parts.count == 2, isClean else {
            throw InvalidArgument("the tag must hold \(Self.userPlace) exactly once, and else A-Z a-z 0-9 _ @ # . : -")
        }
        (start, end) = (String(parts[0]), String(parts[1]))
    }

    package func tag(of user: String) -> String { start + user + end }
}

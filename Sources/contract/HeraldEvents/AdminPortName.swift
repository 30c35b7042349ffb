/// Publishes the admin port of a worker that chose a free one (port 0) to programs that know only its group: in its
/// `client.id`, which the brokers list for each member.
package enum AdminPortName {
    private static let mark = "-admin-"

    /// The `client.id` of a worker that serves there.
    package static func clientID(_ base: String, port: UInt16) -> String { base + mark + String(port) }

    /// The port in a member's `client.id`; `nil` without one.
    package static func port(in clientID: String) -> UInt16? {
        let characters = Array(clientID)
        guard let end = characters.lastIndex(of: "-") else { return nil }
        let (before, digits) = (String(characters[...end]), characters[(end + 1)...])
        guard before.hasSuffix(mark), digits.allSatisfy({ $0.isASCII && $0.isNumber }), digits.first != "0" else {
            return nil
        }
        return UInt16(String(digits))
    }
}

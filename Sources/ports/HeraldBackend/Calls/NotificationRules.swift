internal import HeraldText

/// The rules for a notification before a call is made for it.
///
/// The user keeps the rule of ``BackendConfiguration/users``. An empty tag, or one that reads as an expression, could
/// reach all users. A message has 1 to 4096 bytes of UTF-8.
public enum NotificationRules {
    /// The most bytes of UTF-8 that a message may have.
    public static let messageLimit = 4_096

    static func check(
        pushService: String, user: String, _ rule: UserRule, message: String, idempotencyKey: String
    ) throws(InvalidArgument) {
        let isName = !pushService.isEmpty && pushService.utf8.allSatisfy { isLetterOrDigit($0) }
        guard isName, pushService.utf8.count <= 64 else {
            throw InvalidArgument("a push service's name must be 1 to 64 ASCII letters and digits")
        }
        let limit = rule.maximumByteCount
        let isShort = !user.isEmpty && user.utf8.count <= limit
        switch rule {
        case .tag:
            guard isShort, user.utf8.allSatisfy({ isTagCharacter($0) }) else {
                throw InvalidArgument("the user must be 1 to \(limit) characters out of A-Z a-z 0-9 _ @ # . : -")
            }
        case .text:
            guard isShort, user.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
                throw InvalidArgument("the user must be 1 to \(limit) bytes of UTF-8 without control characters")
            }
        }
        guard !message.isEmpty, message.utf8.count <= messageLimit else {
            throw InvalidArgument("the message must have 1 to \(messageLimit) bytes of UTF-8")
        }
        guard !idempotencyKey.isEmpty, idempotencyKey.unicodeScalars.count <= 512 else {
            throw InvalidArgument("the idempotency key must have 1 to 512 characters")
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func isTagCharacter(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "_@#.:-".utf8.contains(byte)
    }
}

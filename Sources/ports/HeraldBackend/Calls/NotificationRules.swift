internal import HeraldEvents
internal import HeraldText

/// The rules for a notification before a call is made for it.
///
/// The user keeps the rule of ``BackendConfiguration/users``. A message has 1 to 4096 bytes of UTF-8.
public enum NotificationRules {
    /// The most bytes of UTF-8 that a message may have.
    public static let messageLimit = 4_096

    static func check(
        pushService: String, user: String, _ rule: UserRule, message: String, idempotencyKey: String
    ) throws(InvalidArgument) {
        let isName = pushService.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        guard isName, (1...64).contains(pushService.utf8.count) else {
            throw InvalidArgument("a push service's name must be 1 to 64 ASCII letters and digits")
        }
        if let problem = rule.problem(in: user.utf8.span.bytes) { throw InvalidArgument(problem) }
        guard !message.isEmpty, message.utf8.count <= messageLimit else {
            throw InvalidArgument("the message must have 1 to \(messageLimit) bytes of UTF-8")
        }
        guard !idempotencyKey.isEmpty, idempotencyKey.unicodeScalars.count <= 512 else {
            throw InvalidArgument("the idempotency key must have 1 to 512 characters")
        }
    }
}

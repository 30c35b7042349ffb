import HeraldEvents
import HeraldHub

extension TextRule {
    /// A push service's name: part of a query, a header and an idempotency key.
    static let pushService = name(1...32, others: "_-", upperCase: false)

    /// A hub's name, by the rule of the hub's client.
    static let hub = TextRule(
        allowed: "1 to 260 of A-Z a-z 0-9 . _ - and, within, /",
        pattern: "^[A-Za-z0-9._\\-]([A-Za-z0-9._/\\-]{0,258}[A-Za-z0-9._\\-])?$")

    /// A tag with `{user}` for the user: without it, or with an operator beside it, the tag could reach all users.
    ///
    /// A user has up to 111 characters, and a tag 120.
    static let tagTemplate = TextRule(
        allowed: "{user} exactly once, and up to 9 of A-Z a-z 0-9 _ @ # . : - around it",
        pattern: "^(?=.{6,15}$)[A-Za-z0-9_@#.:\\-]*\\{user\\}[A-Za-z0-9_@#.:\\-]*$")

    fileprivate static let status = TextRule(allowed: "200 to 599", pattern: "^[2-5][0-9]{2}$")
}

extension SettingType<[Int: AnswerClass]> {
    /// `{403: rejected}`.
    static var statuses: Self {
        .map(keys: .status, key: { Int($0) }, values: .choice(AnswerClass.self), placeholder: "STATUS=CLASS,…")
    }
}

extension SettingType<[String: Int]> {
    /// `{apns: 500}`.
    static var rates: Self {
        .map(keys: .pushService, key: { $0 }, values: .wholeNumber(1...1_000_000), placeholder: "NAME=N,…", atMost: 64)
    }
}

extension SettingType<[String: String]> {
    /// `{fcm: gcm}`.
    static var aliases: Self {
        .map(
            keys: .pushService, key: { $0 }, values: .text(.pushService, "NAME"), placeholder: "ALIAS=NAME,…",
            atMost: 256)
    }
}

extension SettingType<[String: NotificationFormat]> {
    /// `{gcm: gcm}`.
    static var hubFormats: Self {
        .map(
            keys: .pushService, key: { $0 }, values: .choice(NotificationFormat.self), placeholder: "NAME=FORMAT,…",
            atMost: 64)
    }
}

extension TextRule {
    /// A push service's name: a part of a query, a header and an idempotency key.
    static let pushService = name(1...32, others: "_-", upperCase: false)

    fileprivate static let status = TextRule(
        allowed: "200 to 599", pattern: "^[2-5][0-9]{2}$",
        accepts: { text in text.utf8.count == 3 && Int(text).map((200...599).contains) == true })
}

extension SettingType<[Int: StatusClass]> {
    /// `{403: rejected}`.
    static var statuses: Self {
        .map(keys: .status, key: { Int($0) }, values: .choice(StatusClass.self), placeholder: "STATUS=CLASS,…")
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

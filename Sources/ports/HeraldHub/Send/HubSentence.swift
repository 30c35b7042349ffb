/// The words that a hub's refusal begins with.
///
/// Tags and texts of an event are echoed behind them. One that has a telling word in it must not decide, so a sentence is
/// known by its beginning, word for word.
struct HubSentence {
    private let words: ArraySlice<Substring>

    /// - Parameter detail: an error's text, perhaps with its code in front: `400: SubCode=40000. The Apns …`.
    init(_ detail: String) {
        var words = detail.lowercased().split { " .,:;".contains($0) }[...]
        words = words.drop { $0.hasPrefix("subcode=") || $0.allSatisfy(\.isNumber) }
        self.words = words.first == "the" ? words.dropFirst() : words
    }

    private init(words: ArraySlice<Substring>) { self.words = words }

    /// A push service cannot be used with what the hub has of it.
    ///
    /// The service was seen to say "The Apns certificate is expired" (azure-notificationhubs-dotnet #102) and "The
    /// notification has no target applications. … Review the credentials specified in the notification hub description"
    /// (#334). The others are guesses.
    var isAboutPlatform: Bool {
        if begins(with: ["notification has no target applications", "invalid credentials"]) { return true }
        let rest = behindPlatform
        return rest.words.count < words.count
            && rest.begins(with: [
                "certificate is expired", "certificate has expired", "certificate is invalid", "certificate is not",
                "credential is", "credential has expired", "credentials are", "credentials have expired",
                "is not configured",
                "are not configured",
            ])
    }

    /// Too much was sent; a guess, as newer versions of the interface say it with 429.
    var isAboutThrottling: Bool {
        begins(with: [
            "request was throttled", "request is throttled", "request has been throttled", "too many requests",
            "server is busy", "server is too busy", "service is busy", "service is too busy",
        ])
    }

    /// Nothing more can be sent until a quota begins anew or is raised; a guess.
    var isAboutQuota: Bool {
        begins(with: [
            "quota of", "quota is", "quota has", "quota exceeded", "quota was", "notification quota", "daily quota",
            "monthly quota", "push quota", "namespace quota", "namespace has exceeded", "namespace exceeded",
            "hub has exceeded", "notification hub has exceeded",
        ])
    }

    /// The sentence without the service's own names for a push service at its beginning.
    private var behindPlatform: HubSentence {
        HubSentence(words: words.drop { Self.platformWords.contains($0) })
    }

    private static let platformWords: Set<Substring> = [
        "apns", "apple", "gcm", "fcm", "fcmv1", "google", "wns", "windows", "mpns", "adm", "baidu", "browser", "xiaomi",
        "push", "notification", "service", "system", "pns", "platform", "target", "application", "supplied",
    ]

    private func begins(with sentences: [String]) -> Bool {
        sentences.contains { words.starts(with: $0.split(separator: " ")) }
    }
}

package import HeraldBytes
package import HeraldText

/// A push service's answer for some devices, in demonstrations and tests; the first applicable rule counts.
package struct HubOutcomeRule: Sendable {
    /// The push service by its name in installations (`apns`, `fcmv1`, …); `nil` is every one.
    package var platform: HubPlatform?
    /// The handles it applies to; `*` matches anything.
    package var handle: Glob
    /// The share of devices it applies to, 0 to 1, drawn for each send.
    package var share: Double
    /// One of the service's outcomes, such as `BadChannel`.
    package var outcome: String

    package init(_ outcome: String, handle: String = "*", platform: HubPlatform? = nil, share: Double = 1) {
        self.outcome = outcome
        self.handle = Glob(handle)
        self.platform = platform
        self.share = share
    }

    package static let textForm = "name=value, comma-separated, of outcome, handle, platform, share"

    /// Reads a rule in the form of flags: `outcome=BadChannel,handle=dead-*,platform=apns,share=0.1`.
    package init(parsing text: String) throws(InputError) {
        var values: [String: String] = [:]
        for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, ["outcome", "handle", "platform", "share"].contains(parts[0]) else {
                throw InputError("\(pair): unknown; a rule is \(Self.textForm)")
            }
            values[parts[0]] = parts[1]
        }
        guard let outcome = values["outcome"], Self.outcomes.contains(outcome) else {
            throw InputError("outcome must be one of \(Self.outcomes.joined(separator: ", "))")
        }
        let platform = values["platform"].map { HubPlatform(rawValue: $0) }
        if case .some(nil) = platform {
            let names = HubPlatform.allCases.map(\.rawValue).joined(separator: ", ")
            throw InputError("platform must be one of \(names)")
        }
        let share = values["share"].map { Double($0) } ?? 1
        guard let share, (0...1).contains(share) else { throw InputError("share is not a number from 0 to 1") }
        self.init(outcome, handle: values["handle"] ?? "*", platform: platform ?? nil, share: share)
    }

    /// The service's outcomes, in the order of its documents.
    package static let outcomes = [
        "Success", "AbandonedNotificationMessages", "BadChannel", "ChannelDisconnected", "ChannelThrottled", "Dropped",
        "ExpiredChannel", "InvalidCredentials", "InvalidNotificationFormat", "InvalidNotificationSize", "NoTargets",
        "PnsInterfaceError", "PnsServerError", "PnsUnavailable", "PnsUnreachable", "Skipped", "Throttled",
        "UnknownError", "WrongToken",
    ]

    /// Whether the hub deletes a registration with this outcome and reports it in its feedback.
    static func endsRegistration(_ outcome: String) -> Bool { outcome == "BadChannel" || outcome == "ExpiredChannel" }

    func applies(to registration: HubRegistration, using generator: inout SplitMix64) -> Bool {
        if let platform, platform != registration.platform { return false }
        guard handle.matches(registration.handle) else { return false }
        return share >= 1 || Double.random(in: 0..<1, using: &generator) < share
    }
}

public import HeraldEvents

extension CallVerdict {
    /// What a hub's answer says; `nil` when that is no more than its status: 400 and 413 concern one notification, 401 and
    /// what is left of 403 the caller, 408, 429 and 5xx this moment.
    ///
    /// With 403 the service says four things: the key lacks a right (often with an empty body), the quota is used up, too
    /// much was sent (older versions, and with `Retry-After`), and that something has too many entries.
    ///
    /// - Parameter detail: what the body says, as one line.
    public init?(readAtHub status: Int, hasRetryAfter: Bool, detail: String?) {
        let sentence = HubSentence(detail ?? "")
        switch status {
        // The hub has no credentials that the push service accepts: no fault of the notification, and a matter of that
        // push service alone.
        case 400 where sentence.isAboutPlatform: self = .throttled
        case 403 where hasRetryAfter || sentence.isAboutThrottling: self = .throttled
        case 403 where sentence.isAboutQuota: self = .outage(.target(.quotaUsedUp))
        case 404: self = .outage(.target(.hubNotFound))
        case 429: self = .throttled
        default: return nil
        }
    }
}

extension TargetOutage {
    static let hubNotFound = TargetOutage(
        "hub-not-found", "the namespace has no hub of that name (404)",
        step: "check backend.hub.name and the connection string", command: ["herald", "config", "show", "backend.hub"])
    static let quotaUsedUp = TargetOutage(
        "quota-used-up", "the hub's quota of notifications is used up (403)",
        step: "wait for its next period, or choose a larger tier")

    /// The outages of a hub.
    public static let ofHub = [hubNotFound, quotaUsedUp]
}

/// What a hub's refusal means, where its status alone does not say it.
public enum HubVerdict: Sendable, Hashable, CaseIterable {
    /// The hub takes no more now.
    case throttled
    /// Its quota is used up, which a pause of seconds does not mend.
    case quotaUsedUp
    /// The namespace has no such hub.
    case hubNotFound
    /// The hub has no credentials that the push service accepts: no fault of the notification, and a matter of that
    /// push service alone.
    case platformCredentials

    /// Reads an answer; `nil` when the status says it all: 400 and 413 concern one notification, 401 and what is left of
    /// 403 the caller, 408, 429 and 5xx this moment.
    ///
    /// With 403 the service says four things: the key lacks a right (often with an empty body), the quota is used up, too
    /// much was sent (older versions, and with `Retry-After`), and that something has too many entries.
    ///
    /// - Parameter detail: what the body says, as one line.
    public init?(status: Int, hasRetryAfter: Bool, detail: String?) {
        let sentence = HubSentence(detail ?? "")
        switch status {
        case 400 where sentence.isAboutPlatform: self = .platformCredentials
        case 403 where hasRetryAfter || sentence.isAboutThrottling: self = .throttled
        case 403 where sentence.isAboutQuota: self = .quotaUsedUp
        case 404: self = .hubNotFound
        case 429: self = .throttled
        default: return nil
        }
    }
}

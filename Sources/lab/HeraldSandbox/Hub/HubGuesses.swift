package import HeraldTime

/// What could not be verified of the service, with the most likely answer as default.
package struct HubGuesses: Sendable {
    /// So long a token is taken after its end.
    package var clockSkewSeconds: Int64 = 0
    /// Whether tags match without regard to case.
    package var tagsIgnoreCase = false
    /// Whether a payload that is too large for its push service is refused at once, and not in telemetry.
    package var refusesLargePayloads = false
    /// Whether sends in the format `gcm`, whose push service has ended, are refused.
    package var refusesGCM = false
    /// Whether telemetry counts a send that found no device as one `NoTargets`.
    package var countsNoTargets = false
    /// How a cancelled message is called: `Canceled` in documents, `Cancelled` in the .NET SDK.
    package var cancelledState = "Canceled"
    /// So long a new installation cannot be read, because writes are queued.
    package var installationDelay: Milliseconds = .zero
    /// Whether answers about one registration have the header `ETag`, as older servers do.
    package var hasETagHeader = true

    /// The most likely ones.
    package init() {}
}

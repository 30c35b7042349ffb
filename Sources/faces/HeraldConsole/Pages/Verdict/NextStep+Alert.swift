extension NextStep {
    /// The alerts of deploy/prometheus; a test compares them.
    static let alerts = [
        "HeraldDown", "HeraldWorkerDown", "HeraldWorkerRestarts", "HeraldNotReady", "HeraldDescriptorsScarce",
        "HeraldLogLinesDropped", "HeraldOutage", "HeraldCredentialsRefused", "HeraldCallsFail", "HeraldThrottled",
        "HeraldBackendSlow", "HeraldLag", "HeraldSlowBurnsFast", "HeraldSlowBurns", "HeraldOldestEvent",
        "HeraldDeadLetters", "HeraldManyFail", "HeraldRetriesGrow", "HeraldBrokersUnreachable", "HeraldTooFewBrokers",
        "HeraldPartitionsWithoutLeader", "HeraldTransactionsAbort", "HeraldCommitsFail", "HeraldCommitsStall",
        "HeraldCertificateExpires", "HeraldRebalances", "HeraldPublisherFaults",
        "HeraldBehindOpenTransaction", "HeraldOffsetsPassedOver", "HeraldStrangerInGroup", "HeraldUnreadableBatch",
    ]

    /// The alert whose section of the runbook this step goes on in; `nil` when it is none's.
    var alert: String? { Self.alerts.first { $0.lowercased() == section } }
}

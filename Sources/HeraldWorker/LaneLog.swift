import HeraldCore
import HeraldKafka
import HeraldTelemetry

extension Lane {
    /// Says what the engine wants people to know: one line at each change.
    func tell(_ notice: Notice) {
        switch notice {
        case .holdBegan(let reason):
            let told = reason == .tokenUnavailable ? tokenTrouble.map { "there is no access token: \($0)." } : nil
            logger.error(
                "holding: \(told ?? reason.sentence) Nothing is taken and nothing is lost; it goes on by itself.",
                ["hold": .string(reason.word)])
        case .holdEnded(let reason):
            logger.info("the backend is well again, going on", ["hold": .string(reason.word)])
        case .foreignMetadata(let topic, let partition):
            logger.warning(
                "the group's offset carries metadata that is not Herald's, or damaged; it is ignored, and what was done "
                    + "beyond the offset may be done again",
                ["topic": .string(topic), "partition": .int(Int(partition))])
        case .recordRefused:
            logger.error(
                "a record is too large for its topic even without diagnostics; raise the topic's max.message.bytes. "
                    + "It is offered again and nothing of its partition is committed beyond it.")
        case .rival:
            end = .failed(
                "another process writes under this worker's name: two workers must never share kafka.instance. "
                    + "Give each its own, or leave it out. Nothing is lost.")
        case .gaveUp(let events):
            logger.warning(
                "the time to drain is over; events under way will be taken again",
                ["events": .int(events)])
        }
    }
}

extension Logger {
    /// Passes on what librdkafka says: its errors as warnings, because it mends most of them by itself.
    func kafka(_ notice: ClientNotice) {
        let fields: LogFields = ["part": "librdkafka"]
        // Levels as syslog has them: up to 4 (warning) somebody may want to know.
        if notice.level <= 4 { warning(notice.text, fields) } else { debug(notice.text, fields) }
    }
}

extension HoldReason {
    /// The word for logs.
    var word: String {
        switch self {
        case .credentials: "credentials"
        case .tls: "tls"
        case .tokenUnavailable: "token-unavailable"
        case .nameNotFound: "name-not-found"
        case .proxyRefused: "proxy-refused"
        case .breaker: "breaker"
        case .fuse: "fuse"
        }
    }

    /// What happened and what to do.
    var sentence: String {
        switch self {
        case .credentials: "the backend refuses the credentials (401 or 403): check backend.auth."
        case .tokenUnavailable:
            "the token endpoint gives no token: check backend.auth.tokenURL and the client's secret."
        case .tls: "TLS to the backend failed: check its certificate and backend.tls.caFile."
        case .nameNotFound: "the backend's name has no address: check backend.url and the resolver."
        case .proxyRefused:
            "the proxy refuses the credentials for it (407): check backend.proxy and backend.proxyPasswordFile."
        case .breaker:
            "most calls to the backend fail for now (5xx, time-outs, refused connections): check the backend."
        case .fuse:
            "most answers would make dead letters with the same status: check backend.url and backend.path, or the events."
        }
    }
}

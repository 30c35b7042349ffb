import HeraldBackend
import HeraldHTTP
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldThreads
import HeraldTime

extension SettingsSection<SettingsTable.Kafka> {
    /// What `kafka.auth.*` means in librdkafka's properties, secrets apart.
    var loginProperties: [(String, String)] {
        if let login { return [("security.protocol", "sasl_ssl"), ("sasl.mechanism", login.mechanism)] }
        guard auth.kind == .certificate, let file = auth.certificateFile, let keyFile = auth.keyFile else { return [] }
        return [("security.protocol", "ssl"), ("ssl.certificate.location", file), ("ssl.key.location", keyFile)]
    }

    /// What is sent beside a token: `sasl.oauthbearer.extensions`, as librdkafka writes them.
    fileprivate var tokenExtensions: [String: String] {
        let written = self[dynamicMember: \.properties]["sasl.oauthbearer.extensions"] ?? ""
        var extensions: [String: String] = [:]
        for pair in written.split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { extensions[String(parts[0].trimmingPrefix(" "))] = String(parts[1]) }
        }
        return extensions
    }
}

/// The logins of this process: one for all clients with the same settings, for as long as one of them lives.
///
/// Clients are made in many places and at many times, and each has to follow when a password or a token changes.
enum BrokerLogins {
    /// Where a login is found as long as it lives; the source that it was made with reaches it so, too.
    private final class Place: Sendable {
        private struct Held { weak var login: BrokerLogin? }

        private let held = Guarded(Held())

        var login: BrokerLogin? {
            get { held.withLock { $0.login } }
            set { held.withLock { $0.login = newValue } }
        }
    }

    private struct Key: Hashable {
        var settings: [String?]
        var extensions: [String: String]
    }

    private static let places = Guarded<[Key: Place]>([:])

    /// The login of clients with these settings; `nil` when their properties say it.
    static func login(of kafka: SettingsSection<SettingsTable.Kafka>) -> BrokerLogin? {
        guard let login = kafka.login else { return nil }
        let key = Key(settings: login.identity, extensions: kafka.tokenExtensions)
        return places.withLock { places in
            if let login = places[key]?.login { return login }
            let place = Place()
            places[key] = place
            return make(
                usesTokens: kafka.auth.kind == .oauthbearer, login.credentials, extensions: key.extensions, at: place)
        }
    }

    /// A login that follows its file, or gets tokens, until it is released.
    private static func make(
        usesTokens: Bool, _ credentials: @escaping @Sendable () throws -> Credentials, extensions: [String: String],
        at place: Place
    ) -> BrokerLogin {
        let read = { @Sendable in try CredentialConfiguration(brokers: try credentials()) }
        do {
            let configuration = try read()
            let source = try CredentialSource(configuration, readAgain: read) { notice in
                place.login?.report(notice.sentence(of: .brokers), isTrouble: notice.isTrouble)
            }
            let login = BrokerLogin(
                usesTokens: usesTokens,
                BrokerLogin.Credential(configuration.credentials, endsAt: nil, extensions: extensions),
                keptBy: Keeper(source))
            place.login = login
            source.listen { change in
                switch change {
                case .access(let access):
                    place.login?.update(
                        BrokerLogin.Credential(access.credentials, endsAt: access.endsAt, extensions: extensions))
                case .unavailable(let trouble): place.login?.update(.unavailable(trouble.sentence(of: .brokers)))
                }
            }
            try source.start()
            return login
        } catch {
            let login = BrokerLogin(usesTokens: usesTokens, .unavailable("\(error)"))
            place.login = login
            return login
        }
    }

    /// Ends the source of a login together with it.
    private final class Keeper: Sendable {
        private let source: CredentialSource

        init(_ source: CredentialSource) { self.source = source }

        deinit { source.close() }
    }
}

extension BrokerLogin.Credential {
    /// What brokers are shown of credentials that were read, or fetched.
    fileprivate init(_ credentials: Credentials, endsAt: MonotonicTime?, extensions: [String: String]) {
        switch credentials {
        case .basic(let username, let password): self = .password(username: username, password)
        case .bearer(let token):
            // A token that does not say how long it lives is replaced long before that.
            let left = endsAt?.time(since: SystemClock.monotonic()) ?? .days(1)
            self = .token(
                LoginToken(
                    value: token, endsAtMilliseconds: SystemClock.wall().advanced(by: left).milliseconds,
                    principal: "herald", extensions: extensions))
        case .oauth2, .sharedAccess, .none: self = .pending
        }
    }
}

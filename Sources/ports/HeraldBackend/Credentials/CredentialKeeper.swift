internal import HeraldHTTP
internal import HeraldHub
internal import HeraldText
internal import HeraldTime

/// The work of a ``CredentialSource``'s thread: reads files again, fetches tokens, publishes news.
struct CredentialKeeper {
    /// The longest time of a token request, however long calls may take: a worker's start and stop wait for it.
    private static let requestTimeout = Milliseconds.seconds(10)

    private var configuration: CredentialConfiguration
    private let readAgain: (@Sendable () throws -> CredentialConfiguration)?
    private let report: @Sendable (AccessNotice) -> Void
    private var files: WatchedFiles
    private var nextRead: MonotonicTime
    private var unreadable: String?

    /// What ends, and is renewed before.
    private enum Token {
        /// A token endpoint gave it.
        case fetched(Secret)
        /// It was signed here: the header's value.
        case signed(Secret)
    }

    private var schedule: TokenSchedule
    private var token: Token?
    /// The reason why the last request brought no token.
    private var lastTrouble: TokenTrouble?

    private var revision = 0
    private var filesRevision = 0

    init(
        _ configuration: CredentialConfiguration, readAgain: (@Sendable () throws -> CredentialConfiguration)?,
        report: @escaping @Sendable (AccessNotice) -> Void
    ) {
        self.configuration = configuration
        self.readAgain = readAgain
        self.report = report
        files = WatchedFiles(configuration.tlsFiles)
        let now = SystemClock.monotonic()
        nextRead = now.advanced(by: CredentialSource.readInterval)
        schedule = TokenSchedule(now: now)
    }

    /// The time at which ``work(isRenewalWanted:isCancelled:publish:)`` has something to do, unless it is called for
    /// before.
    var nextWork: MonotonicTime? {
        var earliest: MonotonicTime?
        func consider(_ moment: MonotonicTime?) {
            if let moment { earliest = earliest.map { min($0, moment) } ?? moment }
        }
        if hasFiles { consider(nextRead) }
        if configuration.credentials.isFetched {
            consider(schedule.nextRequest)
            consider(schedule.expiresAt)
        }
        return earliest
    }

    private var hasFiles: Bool { readAgain != nil || !files.isEmpty }

    mutating func work(
        isRenewalWanted: Bool, isCancelled: @escaping @Sendable () -> Bool, publish: (AccessNews) -> Void
    ) {
        var now = SystemClock.monotonic()
        if hasFiles, isRenewalWanted || now >= nextRead {
            nextRead = now.advanced(by: CredentialSource.readInterval)
            readFiles(now, publish)
        }
        guard configuration.credentials.isFetched else { return }
        if isRenewalWanted { _ = schedule.refused(now) }
        if schedule.isDue(now) {
            switch configuration.credentials {
            case .oauth2(let client): fetch(client, now, isCancelled, publish)
            case .sharedAccess: sign(now, publish)
            case .basic, .bearer, .none: break
            }
            now = SystemClock.monotonic()
        }
        if let end = schedule.expiresAt, end <= now {
            schedule.expired()
            token = nil
            publish(.unavailable(lastTrouble ?? .noToken("the former one has ended")))
        }
    }

    // MARK: Files

    private mutating func readFiles(_ now: MonotonicTime, _ publish: (AccessNews) -> Void) {
        var areCredentialsNew = false
        var areFilesNew = false
        do {
            if let fresh = try readAgain?() {
                areCredentialsNew = fresh.credentials != configuration.credentials
                areFilesNew = fresh.proxy != configuration.proxy
                configuration = fresh
            }
            if try files.haveChanged() { areFilesNew = true }
            unreadable = nil
        } catch {
            let reason = "\(error)"
            if reason != unreadable { report(.unreadable(reason)) }
            unreadable = reason
        }
        if areFilesNew {
            filesRevision += 1
            report(.filesChanged)
        }
        if areCredentialsNew {
            report(.credentialsChanged)
            if configuration.credentials.isFetched { schedule.clientChanged(now) } else { revision += 1 }
        }
        let isShown = !configuration.credentials.isFetched || token != nil
        if isShown, areFilesNew || areCredentialsNew { publish(.access(access)) }
    }

    private var access: BackendAccess {
        var credentials = configuration.credentials
        if case .fetched(let text) = token { credentials = .bearer(token: text) }
        var authorization = credentials.authorization.map { Secret($0) }
        if case .signed(let text) = token { authorization = text }
        return BackendAccess(
            credentials: credentials, authorization: authorization, endsAt: schedule.expiresAt, revision: revision,
            proxy: configuration.proxy, tls: configuration.tls, filesRevision: filesRevision)
    }

    // MARK: Tokens

    /// Asks no server, and so never fails.
    private mutating func sign(_ now: MonotonicTime, _ publish: (AccessNews) -> Void) {
        schedule.fetched(
            lifetimeSeconds: HubClient.tokenLifetimeSeconds, now: now, entropy: .random(in: .min ... .max))
        revision += 1
        token = configuration.credentials.authorization.map { .signed(Secret($0)) }
        publish(.access(access))
    }

    private mutating func fetch(
        _ client: ClientCredentials, _ now: MonotonicTime, _ isCancelled: @escaping @Sendable () -> Bool,
        _ publish: (AccessNews) -> Void
    ) {
        let outcome = TokenRequest(client).perform(
            timeout: min(configuration.timeout, Self.requestTimeout),
            proxy: configuration.proxy, tls: configuration.tls, versions: configuration.versions,
            isCancelled: isCancelled)
        let entropy = UInt64.random(in: .min ... .max)
        switch outcome {
        case .token(let fresh, let lifetime):
            schedule.fetched(lifetimeSeconds: lifetime, now: now, entropy: entropy)
            revision += 1
            if lastTrouble != nil, token != nil { report(.tokenRenewed) }
            lastTrouble = nil
            token = .fetched(fresh)
            publish(.access(access))
        case .none(let trouble):
            schedule.failed(
                retryAfter: trouble.retryAfter, now: SystemClock.monotonic(), entropy: entropy)
            if token == nil {
                publish(.unavailable(trouble))
            } else if lastTrouble == nil {
                report(.tokenNotRenewed(trouble))
            }
            lastTrouble = trouble
        }
    }
}

internal import Dispatch
internal import HeraldHTTP
internal import HeraldText
internal import HeraldThreads
public import HeraldTime

/// The one place of a process that knows the backend's credentials: hands them to all callers of the backend, and
/// renews them.
///
/// Secrets in files and the files of TLS are looked at every two seconds. An access token (OAuth 2.0) is fetched once for
/// all, ahead of the former one's end, and when the backend refuses it; see ``TokenSchedule``. So is a hub's token signed.
/// All of that happens on one thread, which only runs when there is something to renew.
public final class CredentialSource: Sendable {
    /// The interval of looks at files.
    public static let readInterval: Milliseconds = .seconds(2)

    private struct Renewal {
        var refused: Int
        var ended: @Sendable () -> Void
    }

    private struct State {
        var access: BackendAccess?
        var trouble: TokenTrouble?
        var renewals: [Renewal] = []
        var isClosed = false
        /// There is no loop to renew anything with.
        var isStuck = false
        var listeners: [@Sendable (AccessNews) -> Void] = []

        /// The present revision; refusals of older ones are justified.
        var currentRevision: Int { access?.revision ?? .min }
    }

    private let state: Guarded<State>
    private let wakeup: Wakeup?
    private let configuration: CredentialConfiguration
    private let readAgain: (@Sendable () throws -> CredentialConfiguration)?
    private let report: @Sendable (AccessNotice) -> Void
    private let makeLoop: @Sendable () throws -> EventLoop

    /// The backend's credentials.
    ///
    /// - Parameters:
    ///   - readAgain: reads the secrets again and gives the configuration with them; `nil` when none is in a file. It may
    ///     block and throw.
    ///   - report: gets what people should know; on the source's thread.
    /// - Throws: when the process has no descriptor left.
    public convenience init(
        _ configuration: BackendConfiguration, readAgain: (@Sendable () throws -> BackendConfiguration)? = nil,
        report: @escaping @Sendable (AccessNotice) -> Void = { _ in }
    ) throws {
        var readKept: (@Sendable () throws -> CredentialConfiguration)?
        if let readAgain { readKept = { try readAgain().kept } }
        try self.init(configuration.kept, readAgain: readKept, report: report)
    }

    /// The same for other credentials.
    public convenience init(
        _ configuration: CredentialConfiguration, readAgain: (@Sendable () throws -> CredentialConfiguration)? = nil,
        report: @escaping @Sendable (AccessNotice) -> Void = { _ in }
    ) throws {
        try self.init(configuration, readAgain: readAgain, report: report, makeLoop: { try EventLoop() })
    }

    init(
        _ configuration: CredentialConfiguration, readAgain: (@Sendable () throws -> CredentialConfiguration)?,
        report: @escaping @Sendable (AccessNotice) -> Void, makeLoop: @escaping @Sendable () throws -> EventLoop
    ) throws {
        self.configuration = configuration
        self.readAgain = readAgain
        self.report = report
        self.makeLoop = makeLoop
        var state = State()
        if !configuration.credentials.isFetched { state.access = configuration.access }
        self.state = Guarded(state)
        let isFixed = readAgain == nil && !configuration.credentials.isFetched && configuration.tlsFiles.isEmpty
        wakeup = isFixed ? nil : try Wakeup()
    }

    /// Begins to fetch and to watch; does nothing when there is nothing to renew.
    public func start() throws {
        guard wakeup != nil else { return }
        let keeper = CredentialKeeper(configuration, readAgain: readAgain, report: report)
        _ = try OwnThread(name: "herald-access") { self.run(keeper) }
    }

    /// The present access; `nil` when there is no access token, or not yet.
    public var access: BackendAccess? { state.withLock { $0.access } }

    /// Waits until it is known what to show, or why nothing can be: no longer than one token request takes.
    ///
    /// Blocks.
    public func waitUntilSettled() {
        let isSettled = DispatchSemaphore(value: 0)
        listen { _ in isSettled.signal() }
        isSettled.wait()
    }

    /// Has the closure called with all news from now on, and at once with what is known already.
    ///
    /// It is called on any thread, one call after the other, and must neither block nor call this source.
    public func listen(_ listener: @escaping @Sendable (AccessNews) -> Void) {
        state.withLock { state in
            state.listeners.append(listener)
            if let access = state.access {
                listener(.access(access))
            } else if let trouble = state.trouble {
                listener(.unavailable(trouble))
            }
        }
    }

    /// The backend refused these credentials: they are renewed, once for all callers, unless that happened already.
    ///
    /// - Parameters:
    ///   - revision: that of the access that was refused.
    ///   - ended: called when the renewal has ended, well or not, and listeners have received it: at once when there is
    ///     nothing to renew. On any thread; it must not block.
    public func renew(refused revision: Int, _ ended: @escaping @Sendable () -> Void) {
        let mustWait = state.withLock { state in
            if wakeup == nil || state.isClosed || state.isStuck || revision < state.currentRevision { return false }
            state.renewals.append(Renewal(refused: revision, ended: ended))
            return true
        }
        if mustWait { wakeup?.signal() } else { ended() }
    }

    /// Ends the thread and forgets the listeners.
    public func close() {
        endRenewals { state in
            state.isClosed = true
            state.listeners.removeAll()
        }
        wakeup?.signal()
    }

    /// No caller waits any longer for a renewal that does not come.
    private func endRenewals(_ change: (inout State) -> Void) {
        let renewals = state.withLock { state in
            change(&state)
            defer { state.renewals.removeAll() }
            return state.renewals
        }
        for renewal in renewals { renewal.ended() }
    }

    private func publish(_ news: AccessNews) {
        state.withLock { state in
            switch news {
            case .access(let access):
                state.access = access
                state.trouble = nil
            case .unavailable(let trouble):
                state.access = nil
                state.trouble = trouble
            }
            for listener in state.listeners { listener(news) }
        }
    }

    private func run(_ keeper: consuming CredentialKeeper) {
        guard let wakeup, let loop = try? makeLoop(),
            (try? loop.add(wakeup.descriptor, token: EventToken(owner: 0), interest: .readable)) != nil
        else {
            report(.unreadable("no descriptor is left to watch them"))
            if access == nil { publish(.unavailable(.noToken("no descriptor is left to ask for one"))) }
            endRenewals { $0.isStuck = true }
            return
        }
        while true {
            let (renewals, isWanted, isClosed) = state.withLock { state in
                defer { state.renewals.removeAll() }
                // A request during a fetch is served by that fetch's token.
                let isWanted = state.renewals.contains { $0.refused >= state.currentRevision }
                return (state.renewals, isWanted, state.isClosed)
            }
            if !isClosed {
                keeper.work(isRenewalWanted: isWanted, isCancelled: { self.isClosed }, publish: publish)
            }
            for renewal in renewals { renewal.ended() }
            if isClosed { return }
            _ = loop.wait(
                timeout: EventLoop.timeout(
                    until: keeper.nextWork, now: SystemClock.monotonic()))
            wakeup.drain()
        }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }
}

extension Credentials {
    /// Whether what is shown ends, and has to be fetched or made again.
    var isFetched: Bool {
        switch self {
        case .oauth2, .sharedAccess: true
        case .basic, .bearer, .none: false
        }
    }
}

extension CredentialConfiguration {
    /// The access as far as it is known without asking a server.
    var access: BackendAccess {
        BackendAccess(
            credentials: credentials, authorization: credentials.authorization.map { Secret($0) }, endsAt: nil,
            revision: 0, proxy: proxy, tls: tls, filesRevision: 0)
    }

    var tlsFiles: [String] { [tls.caFile, tls.certificateFile, tls.keyFile].compactMap { $0 } }
}

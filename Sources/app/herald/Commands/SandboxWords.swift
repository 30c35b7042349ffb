import Glibc
import HeraldCommandLine
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldSandbox
import HeraldSettings
import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTools
import HeraldWorker

/// What users said last, on a sandbox's broker; a change is answered once the worker obeys it.
final class SandboxWords: UserWords {
    private static let patience = Milliseconds.seconds(10)

    private let context: LastWordContext
    private let users: UserRule
    private let zones = try? ZoneFolder.read()
    private let reach: ClusterReach
    private let admin: HeraldKafka.Admin
    private let writer: Guarded<WordWriter>
    private let worker = Guarded<Worker?>(nil)

    init(_ settings: Settings, environment: [String: String]) throws {
        context = try settings.lastWordContext(environment: environment)
        users = settings.backend.users
        (reach, admin) = (settings.clusterReach, try settings.adminClient())
        writer = Guarded(try WordWriter(context))
    }

    /// Names the worker, which starts behind the backend.
    func follow(_ worker: Worker) { self.worker.withLock { $0 = worker } }

    func word(of user: String) throws -> JSONValue? {
        guard let entry = try context.word(of: user, reach: reach, admin: admin, onProgress: { _, _ in true }) else {
            return nil
        }
        return try JSONValue(entry.preference.encoded().span.bytes)
    }

    func set(_ value: [UInt8], of user: String) throws {
        let (preference, problem) = Preference.reading(value.span.bytes, pushServices: context.pushServices)
        if let problem { throw InvalidArgument("the preference \(problem)") }
        if let zones, let problem = preference.quiet?.zoneProblem(among: zones) {
            throw InvalidArgument("the preference has a quiet.zone, and \(problem)")
        }
        try write(preference, of: user)
    }

    func forget(_ user: String) throws { try write(nil, of: user) }

    private func write(_ preference: Preference?, of user: String) throws {
        if let problem = users.problem(in: user.utf8.span.bytes) { throw InvalidArgument(problem) }
        try writer.withLock { writer in
            try writer.write(preference, of: user)
            try writer.finish()
        }
        let written = SystemClock.monotonic()
        while worker.withLock({ $0 })?.report.lastWord?.currentAsOf.map({ $0 < written }) ?? true {
            guard SystemClock.monotonic().time(since: written) < Self.patience else {
                throw CommandFailure("it is written, but the worker has not read it in \(Self.patience.inSeconds) s")
            }
            // Polls, because no event announces what the worker has read.
            usleep(10_000)
        }
    }
}

import Glibc
import HeraldCommandLine
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldThreads
import HeraldTime

/// Bounds how long a command waits for brokers that do not answer its questions: the one deadline of all commands.
///
/// A call of librdkafka that blocks cannot be taken back, and some of them wait for minutes. So a thread of its own looks at
/// when brokers last answered anything, and ends the process when they have not for so long and some of them are found to be
/// silent. What takes its time while answers come is never ended. A job that has begun (a replay, a campaign) is none of its
/// business: it waits for brokers as long as it takes, and stops at the first signal by itself.
enum QuestionWatch {
    /// So long brokers may leave everything unanswered.
    static let patience = Duration.seconds(30)
    /// So long all questions of a command wait for leaders and coordinators that are only just taking office.
    private static let settlingPatience = Duration.seconds(20)
    private static let probeTimeout = Milliseconds.seconds(2)
    private static let turn = Duration.seconds(1)

    private struct State {
        /// How the brokers are asked; `nil` before the command knows them.
        var properties: ClientProperties?
        var isWatching = false
        var settling: SettlingPatience?
    }

    /// When brokers last answered one of this process's clients.
    static let answers = AnswerClock()
    private static let state = Guarded(State())
    /// What the questions of this command share; `nil` for one that waits as long as it takes.
    static var settling: SettlingPatience? { state.withLock { $0.settling } }

    /// Watches the questions of a command from now on.
    static func begin(_ settings: Settings, _ console: Console) throws {
        let properties = KafkaClientSettings.common(settings).unnoted
        let isFirst = state.withLock { state in
            defer { (state.properties, state.isWatching) = (properties, true) }
            return state.properties == nil
        }
        guard isFirst else { return }
        state.withLock { $0.settling = settling(console) }
        answers.note()
        let wakeup = try Wakeup()
        _ = try OwnThread(name: "questions") {
            while true {
                _ = wakeup.wait(for: turn)
                guard state.withLock({ $0.isWatching }), answers.silence >= patience else { continue }
                let silent = silentBrokers
                guard !silent.isEmpty, state.withLock({ $0.isWatching }), answers.silence >= patience else {
                    // Something else takes its time, such as a transaction that is open.
                    answers.note()
                    continue
                }
                console.complain(
                    "herald: nothing was answered for \(patience.components.seconds) s; \(sentence(silent))")
                _exit(ExitStatus.unreachable.rawValue)
            }
        }
    }

    /// No question is open any more: a job begins that waits as long as it takes, or a person is asked.
    static func end() {
        state.withLock { state in
            state.isWatching = false
            state.settling?.end()
        }
    }

    private static func settling(_ console: Console) -> SettlingPatience {
        SettlingPatience(settlingPatience) { error, left in
            console.complain(
                "herald: the brokers answer \"\(SafeText.escaped(error.words))\", as they do when they have just started; "
                    + "asking again, for \(max(1, left.components.seconds)) s at most")
        }
    }

    /// Which brokers do not answer, for a command that failed because of some; `nil` when all do, when it is unknown,
    /// or when its words name all of them.
    static func remark(beside words: String) -> String? {
        let silent = silentBrokers
        return silent.allSatisfy { words.contains($0.address) } ? nil : sentence(silent)
    }

    private static func sentence(_ silent: [ClusterMetadata.Broker]) -> String {
        let names = silent.map { SafeText.escaped("\($0)") }.joined(separator: ", ")
        return silent.count == 1
            ? "broker \(names) does not answer: see whether it runs"
            : "brokers \(names) do not answer: see whether they run"
    }

    /// Those that the cluster names; without a word of any, those of the settings.
    private static var silentBrokers: [ClusterMetadata.Broker] {
        guard let properties = state.withLock({ $0.properties }) else { return [] }
        let known =
            (try? Admin(properties: properties))
            .flatMap { try? $0.metadata(topics: [], timeout: probeTimeout).brokers } ?? []
        let brokers = known.isEmpty ? bootstrap(properties["bootstrap.servers"] ?? "") : known
        return BrokerProbe.silent(among: brokers, properties: properties, timeout: probeTimeout)
    }

    private static func bootstrap(_ servers: String) -> [ClusterMetadata.Broker] {
        servers.split(separator: ",").compactMap { server in
            guard let colon = server.lastIndex(of: ":"), let port = Int(server[server.index(after: colon)...]) else {
                return nil
            }
            let host = server[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
            return ClusterMetadata.Broker(id: -1, host: String(host), port: port)
        }
    }
}

import Glibc
import HeraldCommandLine
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldThreads
import HeraldTime

/// Limits the time a command waits for brokers that do not answer its questions: the one deadline of all commands.
///
/// A blocking call of librdkafka cannot be cancelled, and some wait for minutes. So a separate thread watches the time
/// of the brokers' last answer, and ends the process after too long a silence if a probe confirms that some are silent.
/// It never ends slow work while answers come. Jobs (a replay, a campaign) are exempt: they wait for brokers without a
/// limit, and stop at the first signal by themselves.
enum QuestionWatch {
    /// The longest silence of all brokers.
    static let patience = Duration.seconds(30)
    /// The time for all of a command's questions to wait for leaders and coordinators that are just starting.
    private static let settlingPatience = Duration.seconds(20)
    private static let probeTimeout = Milliseconds.seconds(2)
    private static let turn = Duration.seconds(1)

    private struct State {
        var properties: ClientProperties?
        var isWatching = false
        var settling: SettlingPatience?
    }

    /// The time of the last answer to any of this process's clients.
    static let answers = AnswerClock()
    private static let state = Guarded(State())
    /// The patience shared by the command's questions; `nil` for one that waits without a limit.
    static var settling: SettlingPatience? { state.withLock { $0.settling } }

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
                    // The cause is another delay, such as an open transaction.
                    answers.note()
                    continue
                }
                console.complain(
                    "herald: nothing was answered for \(patience.components.seconds) s; \(sentence(silent))")
                _exit(ExitStatus.unreachable.rawValue)
            }
        }
    }

    /// Stops watching: a job begins, which waits without a limit, or a person is asked.
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

    /// The brokers that do not answer, for a command that failed because of them; `nil` when all answer, when it is
    /// unknown, or when the command's words name all of them.
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

    /// The silent ones of the cluster's brokers; without metadata, of the settings' brokers.
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
            // One may be written with librdkafka's protocol in front.
            guard let place = HostAndPort(server.split(separator: "/").last ?? ""), let port = place.port else {
                return nil
            }
            return ClusterMetadata.Broker(id: -1, host: place.host, port: port)
        }
    }
}

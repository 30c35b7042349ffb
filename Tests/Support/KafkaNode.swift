import Foundation
import Glibc
import Synchronization

/// One node of a test cluster: a broker, a controller, or both.
final class KafkaNode: Sendable {
    static let heap = "512m"

    let port: Int
    let log: URL
    /// Its number in the cluster.
    let id: String
    /// Its kind, for the list of Java starts.
    let kind: String
    /// The folder of its logs.
    let data: URL
    private let home: String
    private let properties: URL
    private let process = Mutex<ChildProcess?>(nil)

    init(home: String, directory: URL, settings: [String: String], clusterID: String, port: Int) throws {
        self.home = home
        self.port = port
        id = settings["node.id"] ?? ""
        kind = settings["process.roles"] ?? ""
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        properties = directory.appending(path: "server.properties")
        log = directory.appending(path: "log")
        data = directory.appending(path: "data")
        let text = settings.merging(["log.dirs": data.path]) { $1 }.map { "\($0)=\($1)\n" }.sorted().joined()
        try text.write(to: properties, atomically: true, encoding: .utf8)
        try KafkaTemplate.format(data, home: home, node: id, cluster: clusterID)
    }

    /// Starts it, in a place of ``Java/start(_:_:)``; data of an earlier run are kept.
    func start() throws {
        let command = Java.command(home: home, heap: Self.heap) + ["kafka.Kafka", properties.path]
        try process.withLock { process in process = try ChildProcess(command, output: log) }
    }

    /// Changes its settings for the next start.
    func replace(_ text: String, with other: String) throws {
        try String(contentsOf: properties, encoding: .utf8).replacing(text, with: other)
            .write(to: properties, atomically: true, encoding: .utf8)
    }

    var isRunning: Bool { process.withLock { $0 }?.isRunning ?? false }

    func signal(_ signal: Int32) {
        process.withLock { $0 }?.signal(signal)
    }

    func pause() {
        process.withLock { $0 }?.pause()
    }

    func kill() {
        process.withLock { $0 }?.kill()
    }

    func failure(_ what: String) -> ChildProcess.Failure {
        let lines = (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n").suffix(15) ?? []
        return ChildProcess.Failure(
            description: "Kafka from KAFKA_HOME \(home): \(what):\n\(lines.joined(separator: "\n"))")
    }
}

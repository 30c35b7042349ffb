import Foundation
import Glibc
import Synchronization

/// One broker and controller of a cluster that the tests have started.
final class KafkaNode: Sendable {
    let port: Int
    let log: URL
    private let home: String
    private let properties: URL
    private let process = Mutex<ChildProcess?>(nil)

    init(home: String, directory: URL, settings: [String: String], clusterID: String, port: Int) throws {
        self.home = home
        self.port = port
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        properties = directory.appending(path: "server.properties")
        log = directory.appending(path: "log")
        let data = directory.appending(path: "data").path
        let text = settings.merging(["log.dirs": data]) { $1 }.map { "\($0)=\($1)\n" }.sorted().joined()
        try text.write(to: properties, atomically: true, encoding: .utf8)
        let format = try java(
            heap: "128m", "kafka.tools.StorageTool", "format", "-t", clusterID, "-c", properties.path)
        guard format.wait() == 0 else { throw failure("formatting failed") }
    }

    private func java(heap: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            ["java", "-Xmx\(heap)", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", "\(home)/libs/*"] + arguments,
            output: log)
    }

    /// Starts it; data of an earlier run are kept.
    func start() throws {
        try process.withLock { process in
            process = try java(heap: "512m", "kafka.Kafka", properties.path)
        }
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

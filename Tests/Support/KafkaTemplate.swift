import Foundation
import Glibc

/// Files made once for an Apache Kafka and kept in `.build/kafka-template`: a formatted folder, which is copied to each
/// node, and an archive of the classes that a started broker has loaded.
///
/// Formatting takes a virtual machine of its own, and half of a broker's start is reading and checking classes.
enum KafkaTemplate {
    private static let checkpoint = "bootstrap.checkpoint"
    private static let archive = "classes.jsa"

    /// Makes the folder of a node like `StorageTool format`.
    static func format(_ data: URL, home: String, node: String, cluster: String) throws {
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: made(home: home).appending(path: checkpoint), to: data.appending(path: checkpoint))
        let properties = "version=1\nnode.id=\(node)\ncluster.id=\(cluster)\ndirectory.id=\(identity())\n"
        try properties.write(to: data.appending(path: "meta.properties"), atomically: true, encoding: .utf8)
    }

    /// Options that take classes from the archive; a virtual machine that does not match it reads them itself.
    static func archiveOptions(home: String) -> [String] {
        guard let path = try? folder(home: home).appending(path: archive).path,
            FileManager.default.fileExists(atPath: path)
        else { return [] }
        return ["-XX:SharedArchiveFile=\(path)", "-Xshare:auto", "-Xlog:disable", "-Xlog:all=error:stderr"]
    }

    /// 16 random bytes in Kafka's form, URL-safe base 64; no leading dash, which would look like an option.
    static func identity() -> String {
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
        return "h"
            + Data(bytes).base64EncodedString().dropLast(2).dropFirst()
            .replacing("+", with: "a").replacing("/", with: "b")
    }

    private static let root = Repository.root.appending(path: ".build/kafka-template")

    /// Named after this Kafka's files and their times of change: the archive matches no others.
    private static func folder(home: String) throws -> URL {
        let libraries = URL(filePath: home).appending(path: "libs")
        let names = try FileManager.default.contentsOfDirectory(atPath: libraries.path).sorted()
        let texts = names.map { name in
            var facts = stat()
            _ = stat(libraries.appending(path: name).path, &facts)
            return "\(name) \(facts.st_size) \(facts.st_mtim.tv_sec)\n"
        }
        // FNV-1a: the same in every process.
        let hash = ([libraries.path + "\n"] + texts).joined().utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return root.appending(path: String(hash, radix: 16))
    }

    /// The template, made by the first process that asks for it.
    private static func made(home: String) throws -> URL {
        let template = try folder(home: home)
        func isMade() -> Bool { FileManager.default.fileExists(atPath: template.path) }
        if isMade() { return template }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let lock = open(template.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard lock >= 0 else { throw ChildProcess.Failure(description: "cannot open \(template.path).lock") }
        defer { close(lock) }
        while flock(lock, LOCK_EX) == -1, errno == EINTR {}
        if isMade() { return template }
        let work = root.appending(path: "\(template.lastPathComponent).\(getpid())")
        try? FileManager.default.removeItem(at: work)
        defer { try? FileManager.default.removeItem(at: work) }
        let new = work.appending(path: "template")
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        try make(new, in: work, home: home)
        try FileManager.default.moveItem(at: new, to: template)
        return template
    }

    /// Formats a folder, and runs a broker on it that writes the archive when it ends.
    private static func make(_ template: URL, in work: URL, home: String) throws {
        let data = work.appending(path: "data")
        let properties = work.appending(path: "server.properties")
        let ports = FreePorts.take(2)
        guard ports.count == 2 else { throw ChildProcess.Failure(description: "no free ports on loopback") }
        let settings = RealKafka.brokerSettings(
            node: 0, of: 1, voters: "1@127.0.0.1:\(ports[1])", port: ports[0], controllerPort: ports[1])
        let text = settings.merging(["log.dirs": data.path]) { $1 }.map { "\($0)=\($1)\n" }.sorted().joined()
        try text.write(to: properties, atomically: true, encoding: .utf8)
        let log = work.appending(path: "log")
        func failure(_ what: String) -> ChildProcess.Failure {
            ChildProcess.Failure(
                description: "Kafka from KAFKA_HOME \(home): \(what):\n"
                    + ((try? String(contentsOf: log, encoding: .utf8)) ?? ""))
        }
        let status = try Java.start(["format"]) {
            try ChildProcess(
                Java.command(home: home) + [
                    "kafka.tools.StorageTool", "format", "-t", identity(), "-c", properties.path,
                ], output: log
            ).wait()
        }
        guard status == 0 else { throw failure("formatting failed") }
        try FileManager.default.copyItem(
            at: data.appending(path: checkpoint), to: template.appending(path: checkpoint))
        // Without an archive, only the start takes longer.
        let classes = template.appending(path: archive)
        try Java.start(["archive"]) {
            var command = Java.command(home: home, heap: KafkaNode.heap)
            command.insert("-XX:ArchiveClassesAtExit=\(classes.path)", at: 1)
            let broker = try ChildProcess(command + ["kafka.Kafka", properties.path], output: log)
            defer { broker.kill() }
            try? RealKafka.waitUntilReady(ports: [ports[0]]) { broker.isRunning ? nil : failure("it stopped") }
            broker.signal(SIGTERM)
            _ = broker.wait()
        }
    }
}

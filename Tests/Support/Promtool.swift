import Foundation
public import Testing

/// `promtool` and `prometheus` of Debian's package `prometheus`.
public enum Promtool {
    /// Whether both are on this machine.
    public static let isInstalled = ["promtool", "prometheus"].allSatisfy { name in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }

    /// The complaints of `promtool check metrics` about a page; empty when it has none.
    public static func check(_ metrics: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "herald-promtool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let page = folder.appending(path: "metrics")
        try metrics.write(to: page, atomically: true, encoding: .utf8)
        let output = folder.appending(path: "output")
        let command = #"promtool check metrics <"$1""#
        let process = try ChildProcess(["sh", "-c", command, "sh", page.path], output: output)
        let status = process.wait()
        let said = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return status == 0 ? said : "status \(status): \(said)"
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs the test only where Debian's package `prometheus` is installed; elsewhere the run's last lines report it.
    public static var promtool: Self {
        .enabled("needs promtool and prometheus (Debian package prometheus)") {
            if !Promtool.isInstalled { SkippedSuites.noteWithoutPrometheus() }
            return Promtool.isInstalled
        }
    }
}

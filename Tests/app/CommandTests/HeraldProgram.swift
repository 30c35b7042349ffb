import Foundation
import TestSupport

/// The program as a process.
enum HeraldProgram {
    /// The result of a run.
    struct Run: Sendable {
        let status: Int32
        let output: String
        let error: String

        /// The lines of `-o jsonl` on standard output.
        var records: [[String: Any]] {
            output.split(separator: "\n").compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
            }
        }
    }

    /// A program built with a sanitizer reads its options from the environment, and needs the preloaded libraries.
    private static let sanitizerOptions = ProcessInfo.processInfo.environment.filter {
        $0.key.hasSuffix("SAN_OPTIONS") || $0.key == "LD_PRELOAD"
    }

    /// Runs it to its end, without a terminal, on its own threads.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String? = nil
    ) async throws -> Run {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("herald")
        process.arguments = arguments
        process.environment = environment.merging(sanitizerOptions) { given, _ in given }
        let (output, error, given) = (Pipe(), Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        process.standardInput = input == nil ? FileHandle.nullDevice : given
        try process.run()
        let (outputEnd, errorEnd) = (output.fileHandleForReading, error.fileHandleForReading)
        async let outputText = Blocking.run { String(decoding: outputEnd.readDataToEndOfFile(), as: UTF8.self) }
        async let errorText = Blocking.run { String(decoding: errorEnd.readDataToEndOfFile(), as: UTF8.self) }
        if let input {
            let end = given.fileHandleForWriting
            try await Blocking.run {
                try end.write(contentsOf: Data(input.utf8))
                try end.close()
            }
        }
        let texts = try await (outputText, errorText)
        process.waitUntilExit()
        return Run(status: process.terminationStatus, output: texts.0, error: texts.1)
    }
}

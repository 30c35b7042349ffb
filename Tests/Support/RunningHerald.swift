public import Foundation

/// A `herald` process that writes one line when it is ready; it is killed with the object.
public final class RunningHerald {
    private let process = Process()
    private let (input, output, error) = (Pipe(), Pipe(), Pipe())

    /// Starts it; its standard input stays open until ``closeInput()``.
    ///
    /// - Parameters:
    ///   - environment: Added to this process's own.
    ///   - keepsErrors: Whether ``end()`` returns standard error, which must then be short.
    public init(_ arguments: [String], environment: [String: String] = [:], keepsErrors: Bool = false) throws {
        process.executableURL = Bundle.main.bundleURL.appending(path: "herald")
        process.arguments = arguments
        // A sandbox has the embedded broker unless a test wants another one.
        process.environment = ProcessInfo.processInfo.environment.merging(["KAFKA_HOME": ""]) { $1 }
            .merging(environment) { $1 }
        (process.standardInput, process.standardOutput) = (input, output)
        process.standardError = keepsErrors ? error : FileHandle.nullDevice
        try process.run()
        if !keepsErrors { try error.fileHandleForWriting.close() }
    }

    /// Waits for its next line on standard output.
    public func line() async throws -> Data {
        let end = output.fileHandleForReading
        return try await Blocking.run {
            var line = Data()
            while let byte = try end.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
            return line
        }
    }

    /// The same as a JSON object.
    public func object() async throws -> [String: Any] {
        let line = try await line()
        guard let object = try JSONSerialization.jsonObject(with: line) as? [String: Any] else {
            throw ChildProcess.Failure(description: "no object: \(String(decoding: line, as: UTF8.self))")
        }
        return object
    }

    /// Ends its standard input.
    public func closeInput() throws { try input.fileHandleForWriting.close() }

    /// Sends it a signal.
    public func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Waits for its end: the status, and its standard error.
    public func end() async throws -> (status: Int32, error: String) {
        let end = error.fileHandleForReading
        let text = try await Blocking.run { try end.readToEnd() ?? Data() }
        try await Blocking.run { [process] in process.waitUntilExit() }
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}

import Foundation
import TestSupport

/// A folder for the files of `herald init`, deleted with the object.
final class InitFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "herald-init-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    func write(_ text: String, _ name: String) throws {
        try text.write(toFile: path(name), atomically: true, encoding: .utf8)
    }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    /// `herald init` without a terminal.
    func run(_ words: String..., environment: [String: String] = [:]) async throws -> HeraldProgram.Run {
        try await HeraldProgram.run(["init", "--output", path("herald.yaml")] + words, environment: environment)
    }

    /// `herald init` on a terminal.
    func ask(_ words: String..., environment: [String: String] = [:]) throws -> TerminalHerald {
        try TerminalHerald(["init"] + words, in: url, environment: environment)
    }
}

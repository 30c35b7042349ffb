import Foundation

/// A file deleted with its owner.
final class TemporaryFile: Sendable {
    let path: String

    init(_ text: String) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "herald-console-\(UUID())").path
        try write(text)
    }

    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path), options: .atomic) }

    func remove() throws { try FileManager.default.removeItem(atPath: path) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

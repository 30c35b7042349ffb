internal import Foundation

/// The key of a remembered id: one per backend and installation, whatever the handle and user.
public struct RegistrationKey: Sendable, Hashable {
    /// The backend's address for registrations.
    public let backend: String
    /// The caller's name for the registered device or program.
    public let installation: String

    /// The key of one installation at one backend.
    public init(backend: String, installation: String) {
        self.backend = backend
        self.installation = installation
    }
}

/// Remembers registration ids between runs.
public protocol RegistrationStore: Sendable {
    /// The id remembered last; `nil` without one.
    func registrationID(for key: RegistrationKey) throws -> String?
    /// Remembers an id in place of the last one; `nil` forgets it.
    func remember(_ id: String?, for key: RegistrationKey) throws
}

/// A store in a file that only its owner may read (mode 0600), replaced as a whole at every change.
public final class FileRegistrationStore: RegistrationStore {
    private let url: URL
    private let lock = NSLock()

    /// A store in the file at this path; file and folder are made on the first change.
    public init(path: String) {
        url = URL(fileURLWithPath: path)
    }

    /// The default file, in the user's folder for programs' state (XDG).
    public static func defaultPath(environment: [String: String]) -> String {
        let home = environment["HOME"] ?? NSHomeDirectory()
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/state"
        return state + "/herald/registrations.json"
    }

    /// The id remembered last; `nil` without one.
    ///
    /// Throws when the file exists and cannot be read.
    public func registrationID(for key: RegistrationKey) throws -> String? {
        try lock.withLock { try read()[key.backend]?[key.installation] }
    }

    /// Remembers an id in place of the last one; `nil` forgets it.
    ///
    /// Throws when the file cannot be written.
    public func remember(_ id: String?, for key: RegistrationKey) throws {
        try lock.withLock {
            var entries = try read()
            entries[key.backend, default: [:]][key.installation] = id
            try write(entries.filter { !$0.value.isEmpty })
        }
    }

    /// The installations of a backend with remembered ids.
    package func installations(of backend: String) throws -> [String] {
        try lock.withLock { try read()[backend]?.keys.sorted() ?? [] }
    }

    private func read() throws -> [String: [String: String]] {
        guard FileManager.default.fileExists(atPath: url.path) else { return [:] }
        return try JSONDecoder().decode([String: [String: String]].self, from: Data(contentsOf: url))
    }

    private func write(_ entries: [String: [String: String]]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let files = FileManager.default
        let folder = url.deletingLastPathComponent()
        try files.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // Written beside the file and renamed over it: a reader sees the old entries or the new ones.
        let fresh = folder.appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        guard
            files.createFile(
                atPath: fresh.path, contents: try encoder.encode(entries), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: fresh.path]) }
        guard rename(fresh.path, url.path) == 0 else {
            let number = errno
            try? files.removeItem(at: fresh)
            throw POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO)
        }
    }
}

internal import Foundation

/// How far each blob of the feedback container was read, as the state topic remembers it: pure.
///
/// A mark is written in the same transaction as the devices that it stands for, and taken back when the blob is gone. A
/// blob that has grown since, as its version tells, is read on from where it was read to.
struct DeviceMarks {
    struct Mark: Codable, Equatable {
        /// The version that was read; absent where the container tells none.
        var etag: String?
        /// So many devices of it are recorded.
        var devices: Int
    }

    /// What the keys of the marks begin with, in a topic that holds other things, too.
    private static let keyPrefix = "feedback/"

    private(set) var marks: [String: Mark] = [:]

    /// Takes a record of the state topic; those of others are ignored.
    mutating func read(key: [UInt8], value: [UInt8]?) {
        guard key.starts(with: Self.keyPrefix.utf8) else { return }
        let name = String(decoding: key.dropFirst(Self.keyPrefix.utf8.count), as: UTF8.self)
        marks[name] = value.flatMap { try? JSONDecoder().decode(Mark.self, from: Data($0)) }
    }

    /// From which of its devices on a blob has to be read; `nil` when there is nothing new in it.
    func start(of blob: String, etag: String?) -> Int? {
        guard let mark = marks[blob] else { return 0 }
        return etag == nil || mark.etag == etag ? nil : mark.devices
    }

    /// The names whose blobs are not in the container any more.
    func gone(from names: Set<String>) -> [String] { marks.keys.filter { !names.contains($0) }.sorted() }

    /// Sets a mark, or takes it back; the record that says so.
    mutating func set(_ mark: Mark?, of blob: String) -> (key: [UInt8], value: [UInt8]?) {
        marks[blob] = mark
        let value = mark.flatMap { try? JSONEncoder().encode($0) }.map(Array.init)
        return (Array((Self.keyPrefix + blob).utf8), value)
    }
}

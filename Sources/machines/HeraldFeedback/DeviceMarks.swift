internal import Foundation

/// The progress in each blob of the feedback container, as stored in the state topic: pure.
///
/// A mark is written in the same transaction as the devices that it covers, and removed when the blob is gone. A blob
/// that has grown, according to its version, is read on from the mark.
struct DeviceMarks {
    struct Mark: Codable, Equatable {
        /// The version that was read; absent when the container reports none.
        var etag: String?
        /// The number of its devices that are recorded.
        var devices: Int
    }

    /// The prefix of the marks' keys, in a topic that holds other records, too.
    private static let keyPrefix = "feedback/"

    private(set) var marks: [String: Mark] = [:]

    /// Takes a record of the state topic; foreign ones are ignored.
    mutating func read(key: [UInt8], value: [UInt8]?) {
        guard key.starts(with: Self.keyPrefix.utf8) else { return }
        let name = String(decoding: key.dropFirst(Self.keyPrefix.utf8.count), as: UTF8.self)
        marks[name] = value.flatMap { try? JSONDecoder().decode(Mark.self, from: Data($0)) }
    }

    /// The first device of a blob to read; `nil` when it has no new ones.
    func start(of blob: String, etag: String?) -> Int? {
        guard let mark = marks[blob] else { return 0 }
        return etag == nil || mark.etag == etag ? nil : mark.devices
    }

    /// The marked blobs that are no longer in the container.
    func gone(from names: Set<String>) -> [String] { marks.keys.filter { !names.contains($0) }.sorted() }

    /// Sets or removes a mark; returns the record that stores this.
    mutating func set(_ mark: Mark?, of blob: String) -> (key: [UInt8], value: [UInt8]?) {
        marks[blob] = mark
        let value = mark.flatMap { try? JSONEncoder().encode($0) }.map(Array.init)
        return (Array((Self.keyPrefix + blob).utf8), value)
    }
}

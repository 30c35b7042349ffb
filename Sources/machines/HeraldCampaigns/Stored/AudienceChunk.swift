internal import Foundation
internal import HeraldTools

/// A part of a stored audience, as its record has it: a line that describes it, and a line of JSON for each person.
package struct AudienceChunk {
    /// The record's first line.
    package struct Head: Codable, Equatable {
        /// Its number, from 0.
        package var chunk: Int
        /// Where its lines stand among those of all chunks, in bytes.
        package var position: Int64
        /// SHA-256 of its lines, in hexadecimal digits.
        package var sha256: String
    }

    /// A chunk is full with so many bytes; one person's line may go beyond.
    static let byteLimit = 262_144

    package let head: Head
    package let lines: ArraySlice<UInt8>

    package init(_ number: Int, at position: Int64, lines: [UInt8]) {
        head = Head(chunk: number, position: position, sha256: SHA256.hex(of: lines))
        self.lines = lines[...]
    }

    /// Reads a record's value; `nil` when it is none, or its lines are others than its sum says.
    init?(_ value: [UInt8]) {
        guard let end = value.firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONDecoder().decode(Head.self, from: Data(value[..<end]))
        else { return nil }
        let lines = value[(end + 1)...]
        guard SHA256.hex(of: Array(lines)) == head.sha256 else { return nil }
        (self.head, self.lines) = (head, lines)
    }

    /// The record's value.
    package var value: [UInt8] { RecordJSON.encoded(head) + [UInt8(ascii: "\n")] + lines }
}

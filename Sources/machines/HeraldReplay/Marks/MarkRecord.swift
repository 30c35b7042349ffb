internal import FoundationEssentials
internal import HeraldTools

/// A record of the state topic that says of some dead letters what became of them.
///
/// Its key is `marks/<job>/<number>`, or `marks-of/<topic>/<job>/<number>` for a topic of others, and no other record ever
/// has it: what is said once stays said.
package struct MarkRecord: Codable, Equatable, Sendable {
    /// What became of them.
    package enum State: String, Codable, Sendable {
        /// Published again; in the same transaction as this record.
        case replayed
        /// An operator has dealt with it in another way.
        case resolved
    }

    /// What became of them.
    package var state: State
    package var job: String
    /// When, epoch milliseconds.
    package var at: Int64
    /// The push services that were replayed; `nil` for all of each dead letter's.
    package var pns: [String]?
    /// The push services that were called in place of each dead letter's own, after a correction; `nil` for its own, and
    /// none for a replay that no worker reads, of which nobody reports.
    package var calls: [String]?
    /// The offsets by partition, `5-9,12`.
    package var partitions: [String: String]

    /// What the key of every mark in Herald's dead-letter topic begins with, or in this topic of others.
    static func keyPrefix(_ foreignTopic: String?) -> String { foreignTopic.map { "marks-of/\($0)/" } ?? "marks/" }

    /// Reads the value of a record; `nil` when it cannot be read.
    ///
    /// An invalid moment becomes the earliest: what was replayed counts, and results are looked for from their
    /// beginning.
    package init?(decoding value: [UInt8]) {
        guard let record = try? JSONDecoder().decode(Self.self, from: Data(value)) else { return nil }
        self = record
        if !SoundNumber.isMoment(at) { at = 0 }
    }

    /// A record about these offsets.
    init(state: State, job: String, at: Int64, pns: [String]?, calls: [String]? = nil, offsets: [Int32: [Int64]]) {
        self.state = state
        self.job = job
        self.at = at
        self.pns = pns
        self.calls = calls
        partitions = [:]
        for (partition, offsets) in offsets { partitions["\(partition)"] = Self.text(of: offsets.sorted()) }
    }

    func key(prefix: String, number: Int) -> String { "\(prefix)\(job)/\(number)" }

    /// Visits all offsets; what is written wrongly is left out, and so is what goes beyond ``mostOffsets``.
    package func visit(_ body: (_ partition: Int32, _ offset: Int64) -> Void) {
        var left = Self.mostOffsets
        for (name, ranges) in partitions.sorted(by: { $0.key < $1.key }) {
            guard let partition = SoundNumber.partition(name) else { continue }
            for part in ranges.split(separator: ",") {
                let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
                guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last,
                    first >= 0, last - first < left
                else { continue }
                left -= last - first + 1
                for offset in first...last { body(partition, offset) }
            }
        }
    }

    /// Whether it says something of this dead letter.
    package func contains(partition wanted: Int32, offset: Int64) -> Bool {
        var isFound = false
        visit { if $0 == wanted, $1 == offset { isFound = true } }
        return isFound
    }

    /// Offsets of one record: no job marks more at a time, and a damaged record must fill neither time nor memory.
    package static let mostOffsets: Int64 = 10_000

    /// Rising offsets as ranges.
    private static func text(of offsets: [Int64]) -> String {
        var ranges: [(first: Int64, last: Int64)] = []
        for offset in offsets {
            if let end = ranges.indices.last, ranges[end].last == offset - 1 {
                ranges[end].last = offset
            } else {
                ranges.append((offset, offset))
            }
        }
        return ranges.map { $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)" }.joined(separator: ",")
    }
}

/// Exactly which dead letters are resolved: fixed before anything is marked.
package struct ResolvePlan: Sendable {
    package private(set) var matched = 0
    package private(set) var count = 0
    /// Offsets by partition.
    package private(set) var chosen: [Int32: [Int64]] = [:]
    /// Places and ids that were named, and that no dead letter has.
    package internal(set) var missing: [String] = []

    package init() {}

    /// Takes a dead letter that the selection means; what was replayed or resolved before is left out.
    package mutating func add(_ entry: DeadLetterEntry, _ marks: MarkIndex?) {
        matched += 1
        let (partition, offset) = (entry.partition, entry.offset)
        if let marks {
            guard !marks.isResolved(partition: partition, offset: offset),
                !marks.isReplayed(entry.pushServices, partition: partition, offset: offset)
            else { return }
        }
        chosen[partition, default: []].append(offset)
        count += 1
    }
}

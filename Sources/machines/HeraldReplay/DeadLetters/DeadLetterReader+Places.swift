internal import HeraldTools

extension DeadLetterReader {
    /// So many records are read over rather than sought again.
    private static let gap: Int64 = 2_000

    /// The dead letters in these places, in no order; those that the topic has no longer are left out.
    ///
    /// - Parameter isStopping: ends the reading with a ``ToolFailure`` that says that no broker answers.
    package func letters(
        at places: [Int32: [Int64]], isStopping: () -> Bool
    ) throws -> [DeadLetterEntry] {
        var runs = places.mapValues { Self.runs($0.sorted()) }
        var found: [DeadLetterEntry] = []
        while runs.contains(where: { !$0.value.isEmpty }) {
            var ranges: LetterRanges = [:]
            var wanted: [Int32: Set<Int64>] = [:]
            for (partition, rest) in runs {
                guard let run = rest.first, let first = run.first, let last = run.last else { continue }
                ranges[partition] = first..<last + 1
                wanted[partition] = Set(run)
                runs[partition]?.removeFirst()
            }
            var isOver = false
            func isGoingOn(_ passed: Int64) -> Bool {
                isOver = isStopping()
                return !isOver
            }
            try scan(ranges, onProgress: isGoingOn) { entry in
                if wanted[entry.partition]?.contains(entry.offset) ?? false { found.append(entry) }
                return true
            }
            if isOver { throw ToolFailure("no broker answers in time", kind: .unreachable) }
        }
        return found
    }

    /// Rising offsets, cut where they lie far apart.
    private static func runs(_ offsets: [Int64]) -> [[Int64]] {
        var runs: [[Int64]] = []
        for offset in offsets {
            if let last = runs.last?.last, offset - last <= gap {
                runs[runs.count - 1].append(offset)
            } else {
                runs.append([offset])
            }
        }
        return runs
    }
}

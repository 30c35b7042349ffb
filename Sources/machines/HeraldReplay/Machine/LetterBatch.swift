internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKernel
internal import HeraldTools

/// Letters and marks that a job still has to write, cut into parts of one transaction each: pure.
struct LetterBatch: Sendable {
    /// A dead letter that is about to be published.
    struct Letter: Sendable {
        var state: LetterState
        var record: OutgoingRecord
        var replay: ReplayRules.Replay
        var partition: Int32
        var offset: Int64
        /// How many marks there were of it before this job's.
        var markCount: Int
    }

    /// What is written in one transaction.
    enum Part: Sendable {
        case letters([Letter])
        case resolved(partition: Int32, offsets: [Int64])
    }

    /// What a mark says of push services: one mark for all dead letters that are alike in it.
    private struct MarkedServices: Hashable {
        var replayed: [String]?
        var called: [String]?
    }

    /// Dead letters in one transaction at most.
    static let transactionCount = 500
    /// Their bytes at most.
    static let transactionBytes = 4 << 20

    /// Gathered, and not cut yet.
    private(set) var letters: [Letter] = []
    private var byteCount = 0
    private(set) var parts: [Part] = []
    /// How many letters the parts had when they were cut.
    private var cutCount = 0

    /// Marks alone, of what is resolved.
    init(resolving chosen: [Int32: [Int64]] = [:]) {
        for (partition, offsets) in chosen.sorted(by: { $0.key < $1.key }) {
            let limit = Int(MarkRecord.mostOffsets)
            for start in stride(from: 0, to: offsets.count, by: limit) {
                let some = Array(offsets[start..<min(offsets.count, start + limit)])
                parts.append(.resolved(partition: partition, offsets: some))
            }
        }
    }

    var isEmpty: Bool { letters.isEmpty && parts.isEmpty }
    /// Whether a transaction takes no further letter.
    var isFull: Bool { letters.count >= Self.transactionCount || byteCount >= Self.transactionBytes }

    /// How many letters it has, in all parts.
    var letterCount: Int {
        letters.count
            + parts.reduce(0) { count, part in
                switch part {
                case .letters(let letters): count + letters.count
                case .resolved(_, let offsets): count + offsets.count
                }
            }
    }

    /// Whether this one is still to be written.
    func contains(partition: Int32, offset: Int64) -> Bool {
        func isIt(_ letter: Letter) -> Bool { letter.partition == partition && letter.offset == offset }
        return letters.contains(where: isIt)
            || parts.contains { part in
                switch part {
                case .letters(let letters): letters.contains(where: isIt)
                case .resolved(let number, let offsets): number == partition && offsets.contains(offset)
                }
            }
    }

    mutating func add(_ letter: Letter) {
        byteCount += letter.record.byteCount
        letters.append(letter)
    }

    /// What was gathered is written next.
    mutating func cut() {
        parts = [.letters(letters)]
        cutCount = letters.count
        (letters, byteCount) = ([], 0)
    }

    // MARK: The first part

    /// Its letters go through another state together.
    mutating func become(_ state: LetterState) {
        guard case .letters(var letters)? = parts.first else { return }
        for index in letters.indices { letters[index].state.become(state) }
        parts[0] = .letters(letters)
    }

    /// Whether the marks tell that it was written: as a whole or not at all.
    func isMarked(in marks: MarkIndex) -> Bool {
        switch parts.first {
        case .letters(let letters)?:
            letters.allSatisfy { marks.replayCount(partition: $0.partition, offset: $0.offset) > $0.markCount }
        case .resolved(let partition, let offsets)?:
            offsets.allSatisfy { marks.isResolved(partition: partition, offset: $0) }
        case nil: false
        }
    }

    /// Whether this is a result of the first part's letters.
    func isUnderWay(_ origin: Origin, replays: Int) -> Bool {
        guard case .letters(let letters)? = parts.first else { return false }
        return letters.contains { $0.replay.replays == replays && $0.replay.origin == origin }
    }

    /// It is written, or stays as it is for good.
    ///
    /// - Returns: how many letters were dealt with, after the last part of them; `nil` before.
    mutating func removeFirst() -> Int? {
        guard !parts.isEmpty else { return nil }
        parts.removeFirst()
        return parts.isEmpty ? cutCount : nil
    }

    /// It is too large for its topic: it is written in two parts, or without its history; whether either is left to do.
    mutating func makeSmaller() -> Bool {
        guard case .letters(let letters)? = parts.first else { return false }
        if letters.count > 1 {
            let middle = letters.count / 2
            become(.gathered)
            guard case .letters(let letters)? = parts.first else { return false }
            parts.replaceSubrange(
                0...0, with: [.letters(Array(letters[..<middle])), .letters(Array(letters[middle...]))])
            return true
        }
        guard var letter = letters.first, letter.record.removeHistory() else { return false }
        letter.state.become(.gathered)
        parts[0] = .letters([letter])
        return true
    }

    /// Its records, and the marks that belong to them: one mark for all that were replayed as a whole, one for each part of
    /// the push services, and one for each correction of them.
    ///
    /// - Parameter moment: epoch milliseconds.
    func content(job: String, at moment: Int64) -> (records: [OutgoingRecord], marks: [MarkRecord]) {
        switch parts.first {
        case .resolved(let partition, let offsets)?:
            let mark = MarkRecord(state: .resolved, job: job, at: moment, pns: nil, offsets: [partition: offsets])
            return ([], [mark])
        case .letters(let letters)?:
            var offsets: [MarkedServices: [Int32: [Int64]]] = [:]
            var order: [MarkedServices] = []
            for letter in letters {
                let services = MarkedServices(
                    replayed: letter.replay.isWhole ? nil : letter.replay.pushServices,
                    called: letter.replay.isCorrectedForOthers || !letter.replay.isReported
                        ? letter.replay.pushServices : nil)
                if offsets[services] == nil { order.append(services) }
                offsets[services, default: [:]][letter.partition, default: []].append(letter.offset)
            }
            let marks = order.map { services in
                MarkRecord(
                    state: .replayed, job: job, at: moment, pns: services.replayed, calls: services.called,
                    offsets: offsets[services] ?? [:])
            }
            return (letters.map(\.record), marks)
        case nil: return ([], [])
        }
    }
}

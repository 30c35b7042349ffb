internal import HeraldEvents
internal import HeraldReplay
internal import HeraldTime

/// The index's memory of a dead letter, in 72 bytes; its position in the index gives its partition.
struct LetterRow: Sendable {
    var offset: Int64
    /// The time at which it became a dead letter, in epoch milliseconds.
    var moment: Int64
    /// 64 bits of a keyed hash; 0 without a user.
    var userHash: UInt64
    var idHash: UInt64
    /// As ``UserMark/start``.
    var userStart: UInt64
    /// The request record; partition -1 when it is unknown.
    var originOffset: Int64
    var originPartition: Int32
    /// Their numbers in ``LetterTables``.
    var traits: UInt32
    var campaign: UInt32
    var detail: UInt32
    /// The number of attempts; ``noNumber`` when it has none, ``otherNumber`` when the number does not fit.
    var attempts: Int32

    static let noNumber = Int32.min
    static let otherNumber = Int32.max

    /// Makes the row of a dead letter, and puts its traits and campaign into the tables.
    init(_ entry: inout DeadLetterEntry, _ tables: inout LetterTables) {
        let origin = entry.origin
        offset = entry.offset
        moment = entry.deadLetteredAt.milliseconds
        let user = entry.text(of: .user).map(UserMark.init)
        (userHash, userStart) = (user?.hash ?? 0, user?.start ?? 0)
        idHash = Self.hash(entry.text(of: .id))
        originOffset = origin?.offset ?? 0
        originPartition = origin?.partition ?? -1
        traits = tables.traits(of: entry)
        campaign = tables.campaign(of: entry)
        detail = tables.detail(of: entry)
        attempts = entry.number(.attempts).map { Int32(exactly: $0) ?? Self.otherNumber } ?? Self.noNumber
    }

    private static func hash(_ text: String?) -> UInt64 {
        text.map { Condition.TextSet.hash($0.utf8.span.bytes) } ?? 0
    }
}

/// The rows of a partition in ascending offsets; in pieces, so that growing never copies all of them.
struct LetterRows: Sendable {
    private static let pieceCount = 16_384

    private var pieces: [ContiguousArray<LetterRow>] = []
    /// The number of dropped rows at the beginning of the first piece.
    private var dropped = 0
    private(set) var count = 0

    /// Appends a row unless it is out of order; returns whether it did.
    mutating func append(_ row: LetterRow) -> Bool {
        if let last = pieces.last?.last, row.offset <= last.offset { return false }
        if pieces.last?.count ?? Self.pieceCount == Self.pieceCount {
            var piece = ContiguousArray<LetterRow>()
            piece.reserveCapacity(Self.pieceCount)
            pieces.append(piece)
        }
        pieces[pieces.count - 1].append(row)
        count += 1
        return true
    }

    /// Drops the rows before this offset; returns their number.
    mutating func drop(before offset: Int64) -> Int {
        let former = count
        while let first = pieces.first, first[first.count - 1].offset < offset {
            count -= first.count - dropped
            dropped = 0
            pieces.removeFirst()
        }
        while let first = pieces.first, first[dropped].offset < offset {
            dropped += 1
            count -= 1
        }
        return former - count
    }

    func visit(_ body: (borrowing LetterRow) -> Void) {
        for (index, piece) in pieces.enumerated() {
            let first = index == 0 ? dropped : 0
            piece.withUnsafeBufferPointer { rows in
                for index in first..<rows.count { body(rows[index]) }
            }
        }
    }

    var firstOffset: Int64? { pieces.first.map { $0[dropped].offset } }

    /// Visits the rows, newest first, while the body returns true.
    func visitNewest(_ body: (borrowing LetterRow) -> Bool) {
        for (index, piece) in pieces.enumerated().reversed() {
            let first = index == 0 ? dropped : 0
            for place in (first..<piece.count).reversed() {
                guard body(piece[place]) else { return }
            }
        }
    }

    /// The offset after which this many rows are left.
    func offset(leaving rest: Int) -> Int64? {
        guard rest < count else { return firstOffset }
        var surplus = count - rest + dropped
        for piece in pieces {
            if surplus < piece.count { return piece[surplus].offset }
            surplus -= piece.count
        }
        return nil
    }
}

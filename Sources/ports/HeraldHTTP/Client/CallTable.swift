internal import HeraldTime

/// The calls of a pool: their requests' bytes, the order of their deadlines, and the order in which they wait for a
/// connection.
///
/// An ended call's entry and memory serve the next one. Not copyable, so that reading from it cannot retain its arrays.
struct CallTable: ~Copyable {
    struct Call {
        var token: UInt64 = 0
        var deadline = MonotonicTime(nanoseconds: 0)
        /// The time at which it began, or at which its connection took it.
        var sentAt = MonotonicTime(nanoseconds: 0)
        /// The slot of the connection that carries it; `nil` while it waits.
        var slot: Int?
        var keepsBody = false
        var isUsed = false
        /// Whether the whole request is written, for a shared connection; updated on demand.
        var isWritten = false
        /// The known part of its answer; updated on demand.
        var fragment: String?
        /// The number of its refusals before it was read.
        var refusals: UInt8 = 0
        var request: [UInt8] = []

        fileprivate mutating func begin(
            token: UInt64, deadline: MonotonicTime, now: MonotonicTime, keepsBody: Bool
        ) {
            self.token = token
            self.deadline = deadline
            sentAt = now
            slot = nil
            self.keepsBody = keepsBody
            isUsed = true
            isWritten = false
            fragment = nil
            refusals = 0
            request.removeAll(keepingCapacity: true)
        }
    }

    private var calls: [Call] = []
    private var free: [Int32] = []
    private var deadlines = IndexList()
    private var waiting = IndexList()

    var waitingCount: Int { waiting.count }

    var count: Int { deadlines.count }

    var earliest: Int32? { deadlines.first == IndexList.none ? nil : deadlines.first }

    var longestWaiting: Int32? { waiting.first == IndexList.none ? nil : waiting.first }

    subscript(index: Int32) -> Call {
        _read { yield calls[Int(index)] }
        _modify { yield &calls[Int(index)] }
    }

    /// Calls `body` with a call's request, without a copy.
    func withRequest<Value>(of index: Int32, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        calls[Int(index)].request.withUnsafeBytes(body)
    }

    /// The call with the caller's token; searches all of them.
    func find(token: UInt64) -> Int32? {
        calls.firstIndex { $0.isUsed && $0.token == token }.map { Int32($0) }
    }

    mutating func add(token: UInt64, deadline: MonotonicTime, now: MonotonicTime, keepsBody: Bool) -> Int32 {
        if free.isEmpty {
            free.append(Int32(calls.count))
            calls.append(Call())
        }
        let index = free.removeLast()
        calls[Int(index)].begin(token: token, deadline: deadline, now: now, keepsBody: keepsBody)
        // Calls with one time-out come in the order of their deadlines: the place is nearly always the last.
        var previous = deadlines.last
        while previous != IndexList.none, calls[Int(previous)].deadline > deadline {
            previous = deadlines.previous(previous)
        }
        deadlines.insert(index, after: previous)
        return index
    }

    /// Removes a call that ended, and returns it.
    @discardableResult
    mutating func release(_ index: Int32) -> (token: UInt64, sentAt: MonotonicTime) {
        waiting.remove(index)
        deadlines.remove(index)
        calls[Int(index)].isUsed = false
        free.append(index)
        return (calls[Int(index)].token, calls[Int(index)].sentAt)
    }

    mutating func waitLast(_ index: Int32) {
        waiting.insert(index, after: waiting.last)
    }

    mutating func waitAgain(_ index: Int32) {
        calls[Int(index)].slot = nil
        waiting.insert(index, after: IndexList.none)
    }

    mutating func assign(_ index: Int32, to slot: Int, _ now: MonotonicTime) {
        waiting.remove(index)
        calls[Int(index)].slot = slot
        calls[Int(index)].sentAt = now
    }
}

internal import CRDKafka
public import HeraldThreads
public import HeraldTime

/// A queue of a consumer: its main queue, or the queue of the partitions forwarded to it.
///
/// Polling any queue counts as a sign of life for `max.poll.interval.ms`. It belongs to the consumer's thread.
public final class MessageQueue {
    // Looked at for every record, on one thread.
    @exclusivity(unchecked) private var pointer: OpaquePointer?
    private let handle: ClientHandle
    /// Lives as long as the queue signals it: a closed descriptor's number goes to the next file.
    private var notified: Wakeup?
    private var listener: QueueListener?
    /// The messages that ``retain()`` took out, the next one last.
    @exclusivity(unchecked) private var retained: [Message] = []

    init(_ pointer: OpaquePointer?, of handle: ClientHandle) {
        self.pointer = pointer
        self.handle = handle
    }

    deinit { release() }

    /// The next message, without waiting; `nil` when there is none.
    ///
    /// Rebalances, errors and log lines in the queue are served on the way. Release the message exactly once. A message
    /// with an ``Message/error`` is not a record.
    public func next() -> Message? { next(wait: .zero) }

    /// The number of messages in the queue, including those that ``retain()`` took out.
    public var count: Int { retained.count + (pointer.map { Int(rd_kafka_queue_length($0)) } ?? 0) }

    /// Takes the queued messages out; ``next()`` hands them out before all others.
    ///
    /// When a partition is paused, librdkafka discards its queue and fetches the records again later. Retained messages
    /// survive, and the partition resumes after them.
    public func retain() {
        var messages: [Message] = []
        // Bounded, because messages may arrive for ever.
        for _ in 0..<count {
            guard let message = next() else { break }
            messages.append(message)
        }
        messages.reverse()
        retained = messages
    }

    /// Discards retained messages, which a seek fetches again, except an "offset gone" error, which comes once.
    public func dropRetained() {
        retained.removeAll { message in
            if message.error?.kind == .offsetGone { return false }
            message.release()
            return true
        }
    }

    /// The next message, blocking up to this long: for tools, never for a lane.
    public func next(wait: Milliseconds) -> Message? {
        if let message = retained.popLast() { return message }
        guard let pointer, let message = rd_kafka_consume_queue(pointer, Int32(clamping: wait)) else { return nil }
        return Message(message)
    }

    /// Signals the wake-up from now on whenever the empty queue fills.
    ///
    /// The signal is an edge: drain the queue until it is empty, once after this call too. The wake-up is held until
    /// ``stopNotifying()`` or the queue's end.
    public func notify(_ wakeup: Wakeup) {
        pointer?.signal(wakeup)
        notified = wakeup
    }

    /// The same for one of many queues: reports its number to `arrivals`.
    package func notify(_ arrivals: QueueArrivals, as number: Int) {
        let listener = QueueListener(arrivals, number: number)
        self.listener = listener
        listener.listen(to: pointer)
    }

    /// Ends ``notify(_:)``.
    public func stopNotifying() {
        pointer?.signal(nil)
        notified = nil
        if listener != nil { rd_kafka_queue_cb_event_enable(pointer, nil, nil) }
        listener = nil
    }

    /// The C queue, for calls that send something to it.
    var raw: OpaquePointer? { pointer }

    /// Replaces the C queue by another one and takes that over; wake-ups go on.
    func replace(with other: OpaquePointer?) {
        let wakeup = notified
        release()
        pointer = other
        if let wakeup { notify(wakeup) }
    }

    /// Gives the C queue back; no message follows.
    func release() {
        for message in retained { message.release() }
        retained.removeAll()
        guard let pointer else { return }
        stopNotifying()
        rd_kafka_queue_destroy(pointer)
        self.pointer = nil
    }
}

extension OpaquePointer {
    /// Has a C queue signal this wake-up whenever it was empty and fills; `nil` ends that.
    ///
    /// The queue knows only the descriptor's number: its owner holds the wake-up until the queue stops signalling it.
    func signal(_ wakeup: Wakeup?) {
        var one: UInt64 = 1
        rd_kafka_queue_io_event_enable(self, wakeup?.descriptor ?? -1, &one, MemoryLayout<UInt64>.size)
    }
}

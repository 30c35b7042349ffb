internal import CRDKafka
public import HeraldThreads
public import HeraldTime

/// A queue of a consumer: of everything that has no other, or of the partitions forwarded to it.
///
/// Polling any queue counts as a sign of life for `max.poll.interval.ms`. One thread, the consumer's.
public final class MessageQueue {
    // Looked at for every record, on one thread.
    @exclusivity(unchecked) private var pointer: OpaquePointer?
    private let handle: ClientHandle
    /// Lives as long as the queue signals it: a descriptor that is closed is the next file's, and would get the bytes.
    private var notified: Wakeup?
    private var listener: QueueListener?
    /// What ``retain()`` took out, the next one last.
    @exclusivity(unchecked) private var retained: [Message] = []

    /// Takes over a reference to the queue.
    init(_ pointer: OpaquePointer?, of handle: ClientHandle) {
        self.pointer = pointer
        self.handle = handle
    }

    deinit { release() }

    /// The next message, without waiting; `nil` when there is none at the moment.
    ///
    /// Rebalances, errors and log lines that lie in the queue are served on the way. The message is to be released
    /// exactly once. A message with an ``Message/error`` is no record.
    public func next() -> Message? { next(wait: .zero) }

    /// How many messages lie in the queue, and were taken out of it by ``retain()``.
    public var count: Int { retained.count + (pointer.map { Int(rd_kafka_queue_length($0)) } ?? 0) }

    /// Takes out what lies in the queue; ``next()`` hands it out before everything else.
    ///
    /// When a partition is paused librdkafka throws away what lies in its queue, and fetches it again later. What was taken
    /// out is kept, and the partition goes on behind it.
    public func retain() {
        var messages: [Message] = []
        // What is on its way may come for ever.
        for _ in 0..<count {
            guard let message = next() else { break }
            messages.append(message)
        }
        messages.reverse()
        retained = messages
    }

    /// Throws away what ``retain()`` took out; a seek brings it again, except that an offset is gone, which is told once.
    public func dropRetained() {
        retained.removeAll { message in
            if message.error?.kind == .offsetGone { return false }
            message.release()
            return true
        }
    }

    /// The next message, blocking up to this long while there is none: for tools, never for a lane.
    public func next(wait: Milliseconds) -> Message? {
        if let message = retained.popLast() { return message }
        guard let pointer, let message = rd_kafka_consume_queue(pointer, Int32(clamping: wait)) else { return nil }
        return Message(message)
    }

    /// From now on signals the wake-up when the queue was empty and fills.
    ///
    /// That is an edge: drain the queue until nothing comes, once after this call too. The wake-up is held until
    /// ``stopNotifying()`` or the queue's end.
    public func notify(_ wakeup: Wakeup) {
        pointer?.signal(wakeup)
        notified = wakeup
    }

    /// The same for one of many queues: names it to `arrivals` by its number.
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

    /// Puts another C queue in this one's place and takes it over; wake-ups go on.
    func replace(with other: OpaquePointer?) {
        let wakeup = notified
        release()
        pointer = other
        if let wakeup { notify(wakeup) }
    }

    /// Gives the C queue back; nothing comes any more.
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
    /// Has a C queue signal this wake-up from now on when it was empty and fills, or none any more.
    ///
    /// The queue knows the descriptor's number alone: its owner holds the wake-up until the queue signals none.
    func signal(_ wakeup: Wakeup?) {
        var one: UInt64 = 1
        rd_kafka_queue_io_event_enable(self, wakeup?.descriptor ?? -1, &one, MemoryLayout<UInt64>.size)
    }
}

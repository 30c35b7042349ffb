internal import CRDKafka
package import HeraldThreads

/// Collects which of several queues were empty and have filled, as reported by the client's threads.
///
/// A consumer may have hundreds of queues: its thread is woken once however many have filled, and looks only at those.
package final class QueueArrivals: Sendable {
    private let filled = Guarded<[Int]>([])
    private let wakeup: Wakeup
    /// A reused buffer that belongs to the taking thread.
    private nonisolated(unsafe) var taken: [Int] = []

    /// None has filled.
    ///
    /// - Parameter wakeup: Signalled when a queue fills and none had before.
    package init(_ wakeup: Wakeup) { self.wakeup = wakeup }

    /// Calls the closure with the number of each queue that has filled since the last call; a number may come twice.
    ///
    /// Call it on one thread.
    package func take(_ body: (Int) -> Void) {
        filled.withLock { swap(&$0, &taken) }
        for number in taken { body(number) }
        taken.removeAll(keepingCapacity: true)
    }

    fileprivate func add(_ number: Int) {
        let isFirst = filled.withLock { filled in
            filled.append(number)
            return filled.count == 1
        }
        if isFirst { wakeup.signal() }
    }
}

/// One queue's link to its ``QueueArrivals``; it must live as long as the queue reports to it.
final class QueueListener {
    private let arrivals: QueueArrivals
    private let number: Int

    init(_ arrivals: QueueArrivals, number: Int) {
        (self.arrivals, self.number) = (arrivals, number)
    }

    /// Has the queue report from now on whenever it was empty and fills.
    func listen(to queue: OpaquePointer?) {
        // Called with the queue locked, by the thread that fills it.
        rd_kafka_queue_cb_event_enable(
            queue,
            { _, listener in
                guard let listener else { return }
                let this = Unmanaged<QueueListener>.fromOpaque(listener).takeUnretainedValue()
                this.arrivals.add(this.number)
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}

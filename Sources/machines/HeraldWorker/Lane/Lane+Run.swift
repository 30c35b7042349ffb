import HeraldCore
import HeraldTelemetry
import HeraldTime

/// The end of a lane.
package enum LaneEnd: Sendable, Equatable {
    /// It drained and left the group; everything under way was finished or, if not `complete`, will be taken again.
    case drained(complete: Bool)
    /// It can't go on; the sentence says what happened and what to do.
    case failed(String)
}

extension Lane {
    /// The time for the group to release it.
    private static var patience: Milliseconds { .seconds(10) }

    /// Runs until the lane has drained or can't go on.
    func run() -> LaneEnd {
        while true {
            let timeout = mayHaveMore ? .zero : time(until: deadline)
            turn(io.wait(timeout: timeout), after: timeout)
            if let end { return close(end) }
            if let leaving { return leave(leaving) }
        }
    }

    private func time(until deadline: MonotonicTime) -> Milliseconds {
        let now = io.now.monotonic
        return deadline <= now ? .zero : .milliseconds((deadline.nanoseconds - now.nanoseconds + 999_999) / 1_000_000)
    }

    /// The drain is over: leaves the group and closes.
    ///
    /// A static member keeps its place.
    private func leave(_ how: LaneEnd) -> LaneEnd {
        let deadline = io.now.monotonic.advanced(by: Self.patience)
        do {
            try io.beginClosing()
            while !io.isClosed || isAborting, io.now.monotonic < deadline {
                serveConsumer()
                receiveMessages()
                // An abort waits until its failed records were received.
                receiveDeliveries(now: io.now)
                carryOut(now: io.now)
                _ = io.wait(timeout: .milliseconds(10))
            }
        } catch {
            logger.warning("the group could not be left: \(error)")
        }
        return close(how)
    }

    private func close(_ how: LaneEnd) -> LaneEnd {
        releaseEverything()
        tracer?.close()
        io.close(lastReport())
        return how
    }
}

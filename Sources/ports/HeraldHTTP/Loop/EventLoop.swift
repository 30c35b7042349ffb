internal import CEpoll
internal import Glibc
public import HeraldThreads
public import HeraldTime

/// Waits for many descriptors at once, on one thread (epoll).
///
/// The loop has no callbacks: ``wait(timeout:)`` fills a buffer that is used again and again, and its
/// caller hands each event to the owner of its token. An event may be about a descriptor that was replaced meanwhile,
/// so an owner takes it as a hint and tries the read or write itself.
public final class EventLoop {
    /// What a descriptor is watched for.
    public enum Interest: Sendable {
        /// Both directions and the end, reported once for each change (edge-triggered): read until nothing is left.
        case edges
        /// Bytes to read, reported once whenever more come: for a ``Wakeup``, which has always room to write.
        case readableEdges
        /// Bytes to read, reported as long as there are any.
        case readable
        /// Room to write, reported as long as there is any.
        case writable
        /// Bytes to read and room to write, reported as long as there are any.
        case readableAndWritable

        fileprivate var mask: UInt32 {
            switch self {
            case .edges: EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
            case .readableEdges: EPOLLIN.rawValue | EPOLLET.rawValue
            case .readable: EPOLLIN.rawValue
            case .writable: EPOLLOUT.rawValue
            case .readableAndWritable: EPOLLIN.rawValue | EPOLLOUT.rawValue
            }
        }
    }

    private static let eventsPerWait = 256

    private let descriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private var readyCount = 0

    /// A loop that watches nothing yet; throws when the process has no descriptor left.
    public init() throws(SystemError) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError(call: "epoll_create1", number: errno) }
        self.descriptor = descriptor
        events = .allocate(capacity: Self.eventsPerWait)
    }

    deinit {
        events.deallocate()
        close(descriptor)
    }

    /// Begins to watch a descriptor; its events carry the token.
    public func add(_ watched: Int32, token: EventToken, interest: Interest) throws(SystemError) {
        try control(EPOLL_CTL_ADD, watched, token, interest)
    }

    /// Watches a descriptor for something else from now on.
    public func change(_ watched: Int32, token: EventToken, interest: Interest) throws(SystemError) {
        try control(EPOLL_CTL_MOD, watched, token, interest)
    }

    private func control(
        _ operation: Int32, _ watched: Int32, _ token: EventToken, _ interest: Interest
    ) throws(SystemError) {
        var event = epoll_event()
        event.events = interest.mask
        event.data.u64 = token.rawValue
        guard epoll_ctl(descriptor, operation, watched, &event) == 0 else {
            throw SystemError(call: "epoll_ctl", number: errno)
        }
    }

    /// Watches a descriptor no longer; one that is not watched, or closed already, is none of our business.
    public func remove(_ watched: Int32) {
        var event = epoll_event()
        epoll_ctl(descriptor, EPOLL_CTL_DEL, watched, &event)
    }

    /// Waits until something is ready, and returns how many events there are to read with the subscript.
    ///
    /// - Parameter timeout: how long to wait at most; 0 only looks, `nil` waits for ever. A signal ends the wait early,
    ///   with no event.
    public func wait(timeout: Milliseconds?) -> Int {
        // Out of EBADF, EFAULT, EINVAL and EINTR only the last can come back: the rest would be our own mistake.
        let count = epoll_wait(descriptor, events, Int32(Self.eventsPerWait), timeout.map { Int32(clamping: $0) } ?? -1)
        precondition(count >= 0 || errno == EINTR, "epoll_wait was called wrongly")
        readyCount = max(0, Int(count))
        return readyCount
    }

    /// An event of the last wait.
    public subscript(index: Int) -> ReadyEvent {
        precondition(index >= 0 && index < readyCount, "no such event")
        return ReadyEvent(token: EventToken(rawValue: events[index].data.u64), mask: events[index].events)
    }

    /// The time-out for ``wait(timeout:)`` that ends at `deadline`, never before it.
    public static func timeout(until deadline: MonotonicTime?, now: MonotonicTime) -> Milliseconds? {
        guard let deadline else { return nil }
        guard deadline > now else { return .zero }
        let (nanoseconds, isTooFar) = deadline.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        if isTooFar { return .max }
        return .milliseconds(nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0))
    }
}

/// Something that happened to a watched descriptor.
public struct ReadyEvent: Sendable {
    /// Whose descriptor it is.
    public let token: EventToken

    fileprivate let mask: UInt32

    /// Whether there may be bytes to read, or the end of them.
    public var isReadable: Bool {
        mask & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
    }

    /// Whether there may be room to write.
    public var isWritable: Bool { mask & (EPOLLOUT.rawValue | EPOLLERR.rawValue) != 0 }

    /// Whether the other side sends no more, or the connection broke: a read finds the end or the error.
    public var isEnding: Bool { mask & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }

    /// Whether the descriptor itself reports an error.
    public var isBroken: Bool { mask & EPOLLERR.rawValue != 0 }
}

/// What an event belongs to: the part of the program that registered the descriptor, and that part's own number for it.
///
/// Small integers instead of closures: the thread that waits looks at ``owner`` and hands the event on.
public struct EventToken: Hashable, Sendable {
    /// The value that the kernel keeps with the descriptor.
    public let rawValue: UInt64

    /// The token that the kernel gave back.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A token of this owner; only the low 56 bits of its payload are kept.
    public init(owner: UInt8, payload: UInt64 = 0) {
        rawValue = UInt64(owner) << 56 | (payload & Self.payloadMask)
    }

    /// The owner that registered the descriptor.
    public var owner: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 56) }

    /// The owner's own number for the descriptor, 56 bits.
    public var payload: UInt64 { rawValue & Self.payloadMask }

    private static let payloadMask: UInt64 = (1 << 56) - 1
}

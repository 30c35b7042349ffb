import Glibc

/// A thread of the operating system that runs one closure.
///
/// Asynchronous signals are blocked on it, so that they reach the main thread, and so that writing to a pipe without a
/// reader fails with EPIPE instead of ending the process.
public final class OwnThread: Sendable {
    private let thread: pthread_t
    private let isJoined = Guarded(false)

    /// Starts the thread; `name` shows in debuggers and is cut to 15 bytes.
    ///
    /// - Throws: EAGAIN when the machine has no room for another.
    public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        var blocked = sigset_t()
        var former = sigset_t()
        sigfillset(&blocked)
        for synchronous in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP] { sigdelset(&blocked, synchronous) }
        pthread_sigmask(SIG_SETMASK, &blocked, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        var handle = pthread_t()
        let code = pthread_create(&handle, nil, { Work.run($0) }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw SystemError(call: "pthread_create", number: code)
        }
        thread = handle
    }

    deinit {
        if !isJoined.withLock({ $0 }) { pthread_detach(thread) }
    }

    /// Waits until the closure has returned; a second call returns at once.
    ///
    /// Must not be called on the thread itself.
    public func join() {
        isJoined.withLock { joined in
            guard !joined else { return }
            pthread_join(thread, nil)
            joined = true
        }
    }

    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let argument else { return nil }
            let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
            work.nameThisThread()
            work.body()
            return nil
        }

        /// Uses the file system, because Swift's Glibc lacks the function; a thread without a name works too.
        private func nameThisThread() {
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            let bytes = Array(name.utf8.prefix(15))
            _ = write(file, bytes, bytes.count)
            close(file)
        }
    }
}

import Foundation
import HeraldThreads

/// Keeps blocking calls off the small thread pool that async tests share.
public enum Blocking {
    /// Runs `body` on a thread of its own.
    public static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await begin(body).value
    }

    /// Begins `body` at once on a thread of its own: a task, or an `async let`, begins when the pool has room, which on
    /// a busy machine may be after its waiter's patience.
    public static func begin<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) -> Begun<Value> {
        let begun = Begun<Value>()
        Thread.detachNewThread { begun.end(Result(catching: body)) }
        return begun
    }

    /// A call that runs on a thread of its own.
    public final class Begun<Value: Sendable>: Sendable {
        private enum State {
            case running
            case awaited(CheckedContinuation<Value, any Error>)
            case ended(Result<Value, any Error>)
        }

        private let state = Guarded(State.running)

        /// Its result, once it has returned.
        public var value: Value {
            get async throws {
                try await withCheckedThrowingContinuation { continuation in
                    let result = state.withLock { state -> Result<Value, any Error>? in
                        if case .ended(let result) = state { return result }
                        state = .awaited(continuation)
                        return nil
                    }
                    if let result { continuation.resume(with: result) }
                }
            }
        }

        fileprivate func end(_ result: Result<Value, any Error>) {
            let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
                defer { state = .ended(result) }
                if case .awaited(let continuation) = state { return continuation }
                return nil
            }
            continuation?.resume(with: result)
        }
    }
}

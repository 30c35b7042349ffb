import Foundation

/// Keeps blocking calls off the small pool of threads that async tests share.
public enum Blocking {
    /// Runs `body` on a thread of its own.
    public static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
        }
    }
}

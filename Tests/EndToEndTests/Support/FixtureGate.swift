import Synchronization
import Testing

/// Lets only a few worlds exist at a time, so that a small machine runs each at its pace.
final class FixtureGate: Sendable {
    static let shared = FixtureGate(limit: 4)

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(limit: Int) {
        state = Mutex(State(free: limit))
    }

    /// Waits for a place.
    func enter() async {
        await withCheckedContinuation { continuation in
            let enters = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if enters { continuation.resume() }
        }
    }

    /// Gives the place to the next.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}

extension Trait where Self == TimeLimitTrait {
    /// A test that hangs ends and says its name, before the whole run does.
    ///
    /// The wait for a place counts: on a busy machine the last test waits for nearly all others.
    static var hangLimit: Self { .timeLimit(.minutes(30)) }
}

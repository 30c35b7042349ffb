import TestSupport
import Testing

extension Gate {
    /// Allows only a few worlds at a time, so that a small machine runs each at its pace.
    static let fixtures = Gate(places: 4)
}

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs, naming it, before the whole run is ended.
    ///
    /// The wait for a place counts: on a busy machine the last test waits for nearly all others.
    static var hangLimit: Self { .timeLimit(.minutes(30)) }
}

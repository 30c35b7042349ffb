import TestSupport
import Testing

extension Gate {
    /// Lets only a few worlds exist at a time, so that a small machine runs each at its pace.
    static let fixtures = Gate(places: 4)
}

extension Trait where Self == TimeLimitTrait {
    /// A test that hangs ends and says its name, before the whole run does.
    ///
    /// The wait for a place counts: on a busy machine the last test waits for nearly all others.
    static var hangLimit: Self { .timeLimit(.minutes(30)) }
}

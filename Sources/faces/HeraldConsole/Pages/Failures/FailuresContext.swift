package import HeraldReplay

/// The environment of the *Failures* page.
package struct FailuresContext: Sendable {
    /// Makes a replayer that has looked at the topics; blocks for the brokers' answers.
    ///
    /// Its parameters are the context with the viewer's name, and whether the replayer will write.
    package var replayer: @Sendable (ReplayContext, _ isWriting: Bool) throws -> Replayer
    /// The settings file, for the displayed commands; `nil` without one.
    package var configuration: String?
    /// The number of dead letters remembered, in 72 bytes each, the newest.
    package var letterLimit = 5_000_000

    package init(
        configuration: String?, replayer: @escaping @Sendable (ReplayContext, Bool) throws -> Replayer
    ) {
        self.configuration = configuration
        self.replayer = replayer
    }
}

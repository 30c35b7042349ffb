package import HeraldReplay

/// What the page *Failures* works on.
package struct FailuresContext: Sendable {
    /// One who has looked at the topics; blocks for the brokers' answers.
    ///
    /// Its parameters are the context, with the name of who asks, and whether something is to be written.
    package var replayer: @Sendable (ReplayContext, _ isWriting: Bool) throws -> Replayer
    /// The settings file, for the commands that are shown; `nil` without one.
    package var configuration: String?
    /// Dead letters that are remembered at most, in 72 bytes each; of more the newest.
    package var letterLimit = 5_000_000

    package init(
        configuration: String?, replayer: @escaping @Sendable (ReplayContext, Bool) throws -> Replayer
    ) {
        self.configuration = configuration
        self.replayer = replayer
    }
}

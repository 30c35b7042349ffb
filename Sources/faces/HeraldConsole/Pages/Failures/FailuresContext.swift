package import HeraldReplay

/// What the page *Failures* works on.
package struct FailuresContext: Sendable {
    /// A replayer that has looked at the topics; blocks for the brokers' answers.
    ///
    /// Its parameters are the context, with the viewer's name, and whether something is to be written.
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

/// How something that ended is shown: the same word and colour wherever it stands.
public enum Tone: String, Sendable, CaseIterable {
    /// All is well.
    case good
    /// It may pass, or be meant so.
    case warn
    /// It failed.
    case bad
    /// It is neither good nor bad.
    case quiet
}

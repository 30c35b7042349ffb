public import HeraldText

/// One setting as `config show` prints it: the value that counts, without secrets, and where it came from.
public struct EffectiveSetting: Sendable, Equatable {
    /// The setting, `retry.maxElapsed`.
    public let path: String
    /// Its value; `null` when absent, `***` for a secret.
    public let value: JSONValue
    /// Where it was written.
    public let place: SettingsPlace
}

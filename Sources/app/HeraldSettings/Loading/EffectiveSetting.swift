package import HeraldText

/// One setting as `config show` prints it: the value that counts, without secrets, and where it came from.
package struct EffectiveSetting: Sendable, Equatable {
    /// The setting, `retry.maxElapsed`.
    package let path: String
    /// Its value; `null` when absent, `***` for a secret.
    package let value: JSONValue
    package let place: SettingsPlace
}

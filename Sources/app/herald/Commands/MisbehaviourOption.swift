import HeraldCommandLine
import HeraldSandbox
import HeraldText

extension ValueType<Misbehaviour> {
    /// A rule that makes the reference backend or the emulated hub fail.
    static let misbehaviour = Self("RULE", reading: Misbehaviour.textForm) { text throws(InputError) in
        try Misbehaviour(parsing: text)
    }
}

extension ValueType<HubOutcomeRule> {
    /// What push services say to some devices.
    static let outcome = Self("RULE", reading: HubOutcomeRule.textForm) { text throws(InputError) in
        try HubOutcomeRule(parsing: text)
    }
}

extension ValueType {
    /// A type whose reader says what is wrong with a text.
    fileprivate init(
        _ placeholder: String, reading allowed: String,
        _ read: @escaping @Sendable (String) throws(InputError) -> Value
    ) {
        self.init(
            placeholder, allowed: allowed,
            mistake: { text in
                do throws(InputError) {
                    _ = try read(text)
                    return nil
                } catch {
                    return error.description
                }
            }, parse: { try? read($0) })
    }
}

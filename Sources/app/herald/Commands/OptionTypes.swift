import HeraldCommandLine
import HeraldEvents
import HeraldSandbox
import HeraldText
import HeraldTools

extension ValueType where Value == [String] {
    /// Names of push services; the settings define them, shells complete the default ones.
    static var pushServices: Self { .commaSeparated("SERVICE,…").completing(PushServices.standard.names) }
}

extension ValueType<Double> {
    static var percentage: Self { Self("PERCENT", allowed: "0% to 100%", parse: ShareText.parse) }

    /// A rate: `200/s`, `30/m` or `1000/h`.
    static var rate: Self { Self("N/s", allowed: "a rate such as 200/s, 30/m or 1000/h", parse: RateText.parse) }
}

extension ValueType<Misbehaviour> {
    /// A rule that makes the reference backend or the emulated hub fail.
    static let misbehaviour = Self("RULE", reading: Misbehaviour.textForm) { text throws(InputError) in
        try Misbehaviour(parsing: text)
    }
}

extension ValueType<HubOutcomeRule> {
    /// A rule for push services' answers to some devices.
    static let outcome = Self("RULE", reading: HubOutcomeRule.textForm) { text throws(InputError) in
        try HubOutcomeRule(parsing: text)
    }
}

extension ValueType {
    /// A type whose reader describes the fault of a text.
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

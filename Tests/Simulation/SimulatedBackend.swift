import HeraldCore

/// Chooses what the backend answers, from chance and from the weather of the moment.
struct SimulatedBackend {
    /// Chances in thousandths.
    struct Weather {
        var transient = 60
        var throttled = 5
        var rejected = 15
        var timeout = 20
        var reset = 10
        /// Every call is refused with 401.
        var passwordIsWrong = false
        /// The name is not found.
        var isUnreachable = false

        static let calm = Self(transient: 0, throttled: 0, rejected: 0, timeout: 0, reset: 0)
    }

    var weather = Weather()
    /// These users are refused with 403 whatever the password.
    var forbidden: Set<Int> = []
    /// Every call for these users hangs until its deadline.
    var hanging: Set<Int> = []
    static let timeout: Int64 = 10_000

    /// The result of a call and how long it takes (milliseconds).
    func answer(user: Int, chance: inout Chance) -> (result: CallResult, after: Int64) {
        let latency = chance.between(1, 80)
        if weather.isUnreachable { return (CallResult(failure: .nameNotFound), latency) }
        if weather.passwordIsWrong { return (CallResult(status: 401), latency) }
        if forbidden.contains(user) { return (CallResult(status: 403), latency) }
        if hanging.contains(user) { return (CallResult(failure: .timeout), Self.timeout) }
        var rest = chance.below(1_000)
        func hit(_ share: Int) -> Bool {
            defer { rest -= share }
            return rest >= 0 && rest < share
        }
        if hit(weather.transient) { return (CallResult(status: 503, detail: "busy"), latency) }
        if hit(weather.throttled) { return (CallResult(status: 429, retryAfter: 7_000), latency) }
        if hit(weather.rejected) { return (CallResult(status: 400, detail: "bad"), latency) }
        if hit(weather.timeout) { return (CallResult(failure: .timeout), Self.timeout) }
        if hit(weather.reset) { return (CallResult(failure: .reset), latency) }
        return (CallResult(status: 200), latency)
    }
}

extension Int {
    /// The nearest whole number to one that may be any: at most 10^15 away from zero, and 0 for what is no number.
    ///
    /// As seconds, that bound can be counted in milliseconds too.
    package init(saturating number: Double) {
        self = number.isNaN ? 0 : Int(Swift.min(Swift.max(number, -1e15), 1e15).rounded())
    }
}

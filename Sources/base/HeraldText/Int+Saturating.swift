extension Int {
    /// The nearest integer to any number: at most 10^15 away from zero, and 0 for NaN.
    ///
    /// Seconds within that bound can be counted in milliseconds too.
    package init(saturating number: Double) {
        self = number.isNaN ? 0 : Int(Swift.min(Swift.max(number, -1e15), 1e15).rounded())
    }
}

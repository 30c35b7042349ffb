/// How long so large a part took at most, from the counts of a histogram: pure.
enum LatencyQuantile {
    /// The seconds within which this share ended, estimated within its bucket; the largest bound for what took longer, and
    /// `nil` when nothing ended.
    ///
    /// - Parameter counts: how many ended within each bound, by the bound in seconds; the largest bound counts all.
    static func seconds(_ share: Double, of counts: [Double: Double]) -> Double? {
        let buckets = counts.sorted { $0.key < $1.key }
        guard let all = buckets.last?.value, all > 0 else { return nil }
        let wanted = share * all
        var (lower, passed) = (0.0, 0.0)
        for (bound, count) in buckets {
            guard count >= wanted else {
                // Workers may be asked between two of their counts: a later bound has fewer then.
                (lower, passed) = (bound.isFinite ? bound : lower, max(passed, count))
                continue
            }
            guard bound.isFinite else { return lower }
            return lower + (bound - lower) * (wanted - passed) / (count - passed)
        }
        return lower
    }
}

import HeraldCommandLine

extension ValueType<Double> {
    /// A share, `20%`, as a number from 0 to 1.
    static var percentage: Self {
        Self("PERCENT", allowed: "0% to 100%") { text in
            guard text.hasSuffix("%"), let number = Double(text.dropLast()), (0...100).contains(number) else {
                return nil
            }
            return number / 100
        }
    }

    /// So many per second, `200/s`, `30/m` or `1000/h`.
    static var rate: Self {
        Self("N/s", allowed: "a rate such as 200/s, 30/m or 1000/h") { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            let seconds = ["s": 1.0, "m": 60.0, "h": 3_600.0]
            guard (1...2).contains(parts.count), let number = Int(parts[0]), (1...1_000_000_000).contains(number),
                let unit = seconds[parts.count == 2 ? String(parts[1]) : "s"]
            else { return nil }
            return Double(number) / unit
        }
    }
}

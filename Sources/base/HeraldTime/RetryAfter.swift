/// Reads `Retry-After` (RFC 9110, section 10.2.3): a number of seconds or an HTTP date.
package enum RetryAfter {
    /// The wait that the field asks for, at least 0 and at most `limit`; `nil` for a field that is neither a number of
    /// seconds nor a date, which callers ignore.
    package static func wait(_ field: String, now: WallTime, limit: Milliseconds) -> Milliseconds? {
        let text = field.utf8.drop { $0 == 0x20 || $0 == 0x09 }
        guard let first = text.first else { return nil }
        let wait: Milliseconds
        if first >= 0x30, first <= 0x39 {
            guard let seconds = seconds(text) else { return nil }
            wait = .seconds(seconds)
        } else {
            guard let date = HTTPDate.parse(field) else { return nil }
            wait = date.time(since: now)
        }
        return min(max(wait, .zero), max(limit, .zero))
    }

    /// Decimal digits to the end of the field; a value too large for an `Int64` counts as its maximum.
    private static func seconds(_ text: Substring.UTF8View) -> Int64? {
        var value: Int64 = 0
        var rest = text[...]
        while let digit = rest.first, digit >= 0x30, digit <= 0x39 {
            let (product, over) = value.multipliedReportingOverflow(by: 10)
            let (sum, more) = product.addingReportingOverflow(Int64(digit - 0x30))
            value = over || more ? .max : sum
            if value == .max { break }
            rest = rest.dropFirst()
        }
        if value == .max { rest = rest.drop { $0 >= 0x30 && $0 <= 0x39 } }
        return rest.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? value : nil
    }
}

/// Events of separate users: `e0` of `user-0` and so on, and their outcomes.
enum Batch {
    /// The events of a range.
    static func events(_ range: Range<Int>) -> [Publication] {
        range.map { Publication(id: "e\($0)", user: "user-\($0)") }
    }

    /// The expectation that all are delivered at their first call; `attempts` is `nil` when they may need more.
    static func delivered(_ range: Range<Int>, attempts: Int? = 1) -> [String: [String: String]] {
        let summary = "delivered 200" + (attempts.map { " attempts \($0)" } ?? "")
        return Dictionary(uniqueKeysWithValues: range.map { ("e\($0)", ["apns": summary]) })
    }
}

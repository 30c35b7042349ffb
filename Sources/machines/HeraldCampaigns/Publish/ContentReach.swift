package import HeraldEvents

/// Which parts of a notification reach which push service, by the settings of this process: pure.
package struct ContentReach: Sendable {
    /// The parts beside the message that reach each push service; `nil` where only a worker's settings say it.
    private let carried: [String: ContentFields]?

    /// - Parameter carried: the parts that reach each push service; `nil` when these settings name no backend.
    package init(_ carried: [String: ContentFields]? = nil) { self.carried = carried }

    /// The parts that do not reach push services, as far as that is known; none for one that gets them all.
    func omitted(
        _ fields: ContentFields, from pushServices: [String]
    ) -> [(pushService: String, fields: ContentFields)] {
        guard let carried else { return [] }
        return pushServices.map { (pushService: $0, fields: fields.subtracting(carried[$0] ?? [])) }.filter {
            !$0.fields.isEmpty
        }
    }

    /// What people should know of it before a start, in sentences.
    package func warnings(_ fields: ContentFields, to pushServices: [String]) -> [String] {
        guard !fields.isEmpty else { return [] }
        let isOne = fields.fields.count == 1
        guard carried != nil else {
            return [
                "whether \(fields.words) \(isOne ? "reaches" : "reach") the devices is for a worker's settings to decide, "
                    + "because these name no backend: with backend.body: text, the default, the message alone does"
            ]
        }
        let omitted = omitted(fields, from: pushServices)
        var sets: [ContentFields] = []
        for one in omitted where !sets.contains(one.fields) { sets.append(one.fields) }
        return sets.map { set in
            let isOne = set.fields.count == 1
            let services = omitted.filter { $0.fields == set }.map(\.pushService).joined(separator: " and ")
            return "\(set.words) \(isOne ? "does" : "do") not reach \(services): backend.body is text, or the push "
                + "service has no place for \(isOne ? "it" : "them")"
        }
    }
}

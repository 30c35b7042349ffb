/// The settings of a worker as a file, by their written names.
struct WorkerSettings: Sendable {
    /// A setting's path and its value in one-line YAML.
    private var values: [String: String] = [:]

    init(_ values: [String: String] = [:]) {
        self.values = values
    }

    subscript(path: String) -> String? {
        get { values[path] }
        set { values[path] = newValue }
    }

    /// The same settings with changes.
    func changing(_ others: [String: String]) -> Self {
        Self(values.merging(others) { $1 })
    }

    /// The delays' texts.
    var delays: [String] {
        values["retry.delays"]?.split { "[], ".contains($0) }.map { String($0) } ?? []
    }

    /// The YAML file.
    var text: String { Self.section(values.map { (path: $0.key.split(separator: ".")[...], value: $0.value) }, 0) }

    private static func section(_ entries: [(path: ArraySlice<Substring>, value: String)], _ depth: Int) -> String {
        let indent = String(repeating: "  ", count: depth)
        return Dictionary(grouping: entries) { $0.path.first ?? "" }.sorted { $0.key < $1.key }.map { name, group in
            if group.count == 1, group[0].path.count == 1 { return "\(indent)\(name): \(group[0].value)\n" }
            return "\(indent)\(name):\n" + section(group.map { ($0.path.dropFirst(), $0.value) }, depth + 1)
        }.joined()
    }
}

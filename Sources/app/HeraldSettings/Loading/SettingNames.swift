/// A setting's name in the three places that can write it.
enum SettingNames {
    static let variablePrefix = "HERALD_"

    /// `retry.maxElapsed` → `HERALD_RETRY_MAX_ELAPSED`.
    static func variable(_ path: String) -> String {
        variablePrefix + words(path).joined(separator: "_").uppercased()
    }

    /// `retry.maxElapsed` → `retry-max-elapsed`.
    static func flag(_ path: String) -> String { words(path).joined(separator: "-").lowercased() }

    /// Whether Kubernetes makes such a variable for a service of the same name beside Herald
    /// (`HERALD_BACKEND_SERVICE_HOST`, `HERALD_PORT_9464_TCP_ADDR`): no person wrote it, so it is no mistake.
    static func isServiceLink(_ variable: String) -> Bool {
        let parts = variable.split(separator: "_", omittingEmptySubsequences: false)
        guard let last = parts.last else { return false }
        return variable.hasSuffix("_SERVICE_HOST") || variable.contains("_SERVICE_PORT") || last == "PORT"
            || zip(parts, parts.dropFirst()).contains { $0 == "PORT" && !$1.isEmpty && $1.allSatisfy(\.isNumber) }
    }

    /// The words of a camel-case path; a run of capitals (`tokenURL`) is one word.
    private static func words(_ path: String) -> [String] {
        var words: [String] = []
        for part in path.split(separator: ".") {
            var word = ""
            var afterCapital = false
            for character in part {
                if character.isUppercase, !afterCapital, !word.isEmpty {
                    words.append(word)
                    word = ""
                }
                afterCapital = character.isUppercase
                word.append(character)
            }
            words.append(word)
        }
        return words
    }
}

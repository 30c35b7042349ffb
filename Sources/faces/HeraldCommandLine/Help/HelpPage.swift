import HeraldText

/// The help of one command or group, wrapped to a width.
package struct HelpPage {
    private static let widestName = 30
    private static let narrowest = 40

    private let path: CommandPath
    private let width: Int
    private let allSettings: Bool
    private var text = ""

    /// The page as text, with a final line feed.
    ///
    /// - Parameter allSettings: Whether to include options that have no effect on the command.
    package static func render(_ path: CommandPath, width: Int, allSettings: Bool = false) -> String {
        var page = Self(path: path, width: max(width, narrowest), allSettings: allSettings)
        page.write()
        return page.text
    }

    private init(path: CommandPath, width: Int, allSettings: Bool) {
        self.path = path
        self.width = width
        self.allSettings = allSettings
    }

    private mutating func write() {
        let command = path.command
        paragraph(command.summary)
        section("Usage")
        for line in Wrapping.lines(path.usage, width: width - 4, hanging: 2) { text += "  \(line)\n" }
        for detail in command.details.split(separator: "\n\n") {
            text += "\n"
            paragraph(String(detail))
        }
        table("Commands", command.subcommands.map { ($0.name, $0.summary) })
        table("Arguments", command.arguments.map { ($0.name, $0.purpose) })
        for group in path.optionGroups {
            let options = group.options.filter { allSettings || !$0.isUnused }
            table(group.name, options.map { ($0.notation, $0.explanation) })
        }
        guard !command.examples.isEmpty else { return }
        section("Examples")
        for example in command.examples {
            text += "  \(example.term)\n"
            for line in Wrapping.lines(example.summary, width: width - 6) { text += "      \(line)\n" }
        }
    }

    private mutating func section(_ title: String) { text += "\n\(title):\n" }

    private mutating func paragraph(_ words: String) {
        for line in Wrapping.lines(words, width: width) { text += line + "\n" }
    }

    private mutating func table(_ title: String, _ rows: [(name: String, summary: String)]) {
        guard !rows.isEmpty else { return }
        section(title)
        let longest = rows.map(\.name.count).max() ?? 0
        let column = min(longest, Self.widestName, width / 2 - 4)
        let indentation = String(repeating: " ", count: column + 4)
        for row in rows {
            var lines = Wrapping.lines(row.summary, width: width - column - 4)[...]
            text += "  " + row.name
            if row.name.count <= column, let first = lines.popFirst() {
                text += String(repeating: " ", count: column - row.name.count + 2) + first
            }
            text += "\n"
            for line in lines { text += indentation + line + "\n" }
        }
    }
}

extension CommandPath {
    var usage: String {
        let required = options.filter(\.isRequired).map(\.notation)
        let arguments = command.arguments.map { argument in
            let name = argument.name + (argument.isRepeatable ? "…" : "")
            return argument.isRequired ? name : "[\(name)]"
        }
        let rest = command.subcommands.isEmpty ? arguments : ["COMMAND"]
        return ([name] + required + ["[options]"] + rest).joined(separator: " ")
    }

    /// The options under their headings, the command's own first.
    var optionGroups: [(name: String, options: [OptionDeclaration])] {
        var groups: [(name: String, options: [OptionDeclaration])] = []
        for option in options {
            let name = option.group ?? "Options"
            if let index = groups.firstIndex(where: { $0.name == name }) {
                groups[index].options.append(option)
            } else {
                groups.append((name, [option]))
            }
        }
        return groups
    }
}

extension OptionDeclaration {
    /// The option as help writes it: `-o, --output FORMAT`.
    var notation: String {
        let names = (short.map { "-\($0), " } ?? "") + "--\(name)"
        return switch form {
        case .flag: names
        case .value(let traits): "\(names) \(traits.placeholder)"
        case .toggle(let traits): "\(names)[=\(traits.placeholder)]"
        }
    }

    var explanation: String {
        var text = purpose
        if isRepeatable { text += " May be repeated." }
        if let standard { text += " Default: \(standard)." }
        return text
    }

    /// The summary with the closed set of values, unless the placeholder lists it already.
    var purpose: String {
        guard let value, !value.choices.isEmpty, value.placeholder != value.choices.joined(separator: "|") else {
            return summary
        }
        return "\(summary) One of \(value.choices.joined(separator: ", "))."
    }
}

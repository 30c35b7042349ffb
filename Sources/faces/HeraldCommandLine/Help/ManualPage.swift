/// The manual page of the whole program, as roff with the `man` macros.
package enum ManualPage {
    /// The page; options shared by many commands appear once, under the heading of their group.
    package static func render(_ root: CommandDeclaration, version: String) -> String {
        let top = CommandPath(root: root)
        var text = ".TH \(root.name.uppercased()) 1 \"\" \"\(root.name) \(escaped(version))\" \"User Commands\"\n"
        text += ".SH NAME\n\(root.name) \\- \(escaped(root.summary))\n"
        text += ".SH SYNOPSIS\n.B \(root.name)\n[options] COMMAND\n"
        if !root.details.isEmpty { text += ".SH DESCRIPTION\n" + paragraphs(root.details) }
        text += ".SH COMMANDS\n"
        for path in top.all where path.command.subcommands.isEmpty { text += section(of: path) }
        for group in sharedGroups(top) {
            text += ".SH \(escaped(group.name.uppercased()))\n" + group.options.map(entry).joined()
        }
        text += ".SH EXIT STATUS\n"
        for status in ExitStatus.allCases { text += ".TP\n.B \(status.rawValue)\n\(escaped(status.summary))\n" }
        text += list("ENVIRONMENT", root.environment)
        if !root.examples.isEmpty { text += ".SH EXAMPLES\n" + root.examples.map(example).joined() }
        return text
    }

    private static func list(_ heading: String, _ entries: [CommandDeclaration.Note]) -> String {
        guard !entries.isEmpty else { return "" }
        return ".SH \(heading)\n"
            + entries.map { ".TP\n.B \(escaped($0.term))\n\(escaped($0.summary))\n" }.joined()
    }

    private static func example(_ example: CommandDeclaration.Note) -> String {
        ".PP\n\(escaped(example.summary))\n.PP\n.RS 4\n.nf\n\(escaped(example.term))\n.fi\n.RE\n"
    }

    private static func section(of path: CommandPath) -> String {
        var text = ".SS \(escaped(path.usage))\n\(escaped(path.command.summary))\n"
        if !path.command.details.isEmpty { text += ".PP\n" + paragraphs(path.command.details) }
        for argument in path.command.arguments {
            text += ".TP\n.I \(escaped(argument.name))\n\(escaped(argument.purpose))\n"
        }
        for option in path.options where option.group == nil { text += entry(option) }
        let shared = path.command.options.filter { $0.group != nil && !$0.isUnused }
        if !shared.isEmpty {
            let names = shared.map { "--\($0.name)" }.joined(separator: ", ")
            text += ".PP\nSettings that it uses: \(escaped(names)).\n"
        }
        return text + path.command.examples.map(example).joined()
    }

    /// The groups with a heading, each option once.
    private static func sharedGroups(_ top: CommandPath) -> [(name: String, options: [OptionDeclaration])] {
        var groups: [(name: String, options: [OptionDeclaration])] = []
        for path in top.all {
            for group in path.optionGroups where group.options.contains(where: { $0.group != nil }) {
                guard let index = groups.firstIndex(where: { $0.name == group.name }) else {
                    groups.append(group)
                    continue
                }
                let known = Set(groups[index].options.map(\.name))
                groups[index].options += group.options.filter { !known.contains($0.name) }
            }
        }
        return groups
    }

    private static func entry(_ option: OptionDeclaration) -> String {
        ".TP\n.B \(escaped(option.notation))\n\(escaped(option.explanation))\n"
    }

    private static func paragraphs(_ text: String) -> String {
        text.split(separator: "\n\n").map { escaped($0.replacing("\n", with: " ")) }.joined(separator: "\n.PP\n") + "\n"
    }

    /// Pure ASCII in which roff sees no request and no escape.
    private static func escaped(_ text: some StringProtocol) -> String {
        var plain = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": plain += "\\e"
            case "-": plain += "\\-"
            default:
                if scalar.isASCII {
                    plain.unicodeScalars.append(scalar)
                } else {
                    let digits = String(scalar.value, radix: 16, uppercase: true)
                    plain += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
                }
            }
        }
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}

import HeraldText

/// Parses a command line by its declarations; options may stand anywhere after the command they belong to and before
/// `--`.
package struct CommandLineParser {
    package enum Request: Sendable {
        case run(ParsedCommand)
        /// The help of a command or group, with all its settings or only those that it uses.
        case help(CommandPath, allSettings: Bool)
        case version
    }

    private var path: CommandPath
    private var rest: ArraySlice<String>
    private var options: [String: [String]] = [:]
    private var words: [String] = []

    /// Parses the words after the program's name.
    package static func parse(_ words: [String], root: CommandDeclaration) throws(UsageError) -> Request {
        var parser = Self(path: CommandPath(root: root), rest: words[...])
        return try parser.run()
    }

    private init(path: CommandPath, rest: ArraySlice<String>) {
        self.path = path
        self.rest = rest
    }

    private mutating func run() throws(UsageError) -> Request {
        var isLiteral = false
        while let word = rest.popFirst() {
            if isLiteral || word == "-" || !word.hasPrefix("-") {
                try accept(word)
            } else if word == "--" {
                isLiteral = true
            } else if word.hasPrefix("--") {
                try parseLong(word.dropFirst(2))
            } else {
                try parseShort(word.dropFirst())
            }
        }
        let allSettings = options[CommandPath.settings.name] != nil
        if options[CommandPath.help.name] != nil { return .help(path, allSettings: allSettings) }
        if allSettings { throw failure("--settings goes with --help: \(path.name) --help --settings") }
        if path.words.isEmpty, options[CommandPath.version.name] != nil { return .version }
        guard path.command.subcommands.isEmpty else {
            let names = path.command.subcommands.map(\.name).joined(separator: ", ")
            throw failure("a command is missing; one of \(names)")
        }
        try checkOptions()
        try takeArguments()
        return .run(ParsedCommand(path: path, options: options))
    }

    private func failure(_ message: String) -> UsageError { UsageError(message, command: path.name) }

    /// A word without dashes: the next command of a group, else an argument.
    private mutating func accept(_ word: String) throws(UsageError) {
        guard !path.command.subcommands.isEmpty else { return words.append(word) }
        guard let next = path.command.subcommand(word) else {
            let names = path.command.subcommands.map(\.name)
            throw failure("unknown command \(SafeText.quoted(word))" + hint(for: word, in: names, prefix: ""))
        }
        path = path.descending(to: next)
    }

    private mutating func parseLong(_ text: Substring) throws(UsageError) {
        let name = String(text.prefix { $0 != "=" })
        let attached = text.firstIndex(of: "=").map { String(text[text.index(after: $0)...]) }
        guard let option = find({ $0.name == name }) else {
            let plain = name.lowercased().filter { $0 != "-" && $0 != "_" }
            let meant = path.options.first { $0.foreignNames.contains(plain) }?.name ?? name
            let hint = hint(for: meant, in: path.options.map(\.name), prefix: "--")
            throw UsageError("unknown option --\(SafeText.escaped(name))" + hint, command: path.name)
        }
        try accept(option, as: "--\(option.name)", attached: attached)
    }

    private mutating func parseShort(_ text: Substring) throws(UsageError) {
        guard let letter = text.first, let option = find({ $0.short == letter }) else {
            throw failure("unknown option -\(SafeText.escaped(String(text.prefix(1))))")
        }
        var attached = text.count > 1 ? String(text.dropFirst()) : nil
        if attached?.hasPrefix("=") == true { attached?.removeFirst() }
        try accept(option, as: "-\(letter)", attached: attached)
    }

    private func find(_ isWanted: (OptionDeclaration) -> Bool) -> OptionDeclaration? {
        path.options.first(where: isWanted)
    }

    private mutating func accept(_ option: OptionDeclaration, as name: String, attached: String?) throws(UsageError) {
        guard options[option.name] == nil || option.isRepeatable || option.value == nil else {
            throw failure("\(name) is given twice")
        }
        let text: String
        switch option.form {
        case .flag:
            guard attached == nil else { throw failure("\(name) takes no value") }
            text = ""
        case .toggle(let traits):
            if let attached {
                text = attached
            } else if let next = rest.first, traits.accepts(next) {
                text = next
                rest.removeFirst()
            } else {
                text = "true"
            }
        case .value(let traits):
            if let attached {
                text = attached
            } else {
                guard let next = rest.first, !isOption(next) else {
                    let form = rest.isEmpty ? "" : "; one that begins with a dash is written \(name)=…"
                    throw failure("\(name) needs a value: \(traits.placeholder)\(form)")
                }
                text = next
                rest.removeFirst()
            }
            try check(text, traits, of: name)
        }
        options[option.name, default: []].append(text)
    }

    /// Whether a word needs `=` to be a value; negative numbers and `-` do not.
    private func isOption(_ word: String) -> Bool { word.hasPrefix("-") && word != "-" && Double(word) == nil }

    private func check(_ text: String, _ traits: ValueTraits, of name: String) throws(UsageError) {
        guard !traits.accepts(text) else { return }
        if let mistake = traits.mistake(text) { throw failure("\(name): \(SafeText.escaped(mistake))") }
        let hint = hint(for: text, in: traits.choices, prefix: "")
        throw failure("\(name): \(SafeText.quoted(text)) is not allowed; allowed: \(traits.allowed)\(hint)")
    }

    private func hint(for name: String, in candidates: [String], prefix: String) -> String {
        Suggestion.nearest(to: name, in: candidates).map { "; did you mean \(prefix)\($0)?" } ?? ""
    }

    private func checkOptions() throws(UsageError) {
        for option in path.options where option.isRequired && options[option.name] == nil {
            throw failure("--\(option.name) \(option.value?.placeholder ?? "") is missing")
        }
    }

    private mutating func takeArguments() throws(UsageError) {
        var left = words[...]
        for argument in path.command.arguments {
            let mine = argument.isRepeatable ? Array(left) : Array(left.prefix(1))
            left = left.dropFirst(mine.count)
            guard !mine.isEmpty || !argument.isRequired else { throw failure("\(argument.name) is missing") }
            if let traits = argument.value { for text in mine { try check(text, traits, of: argument.name) } }
            options[argument.name] = mine
        }
        if let surplus = left.first { throw failure("unexpected argument \(SafeText.quoted(surplus))") }
    }
}

internal import HeraldText

/// The pieces of a condition.
struct WhereToken: Equatable {
    enum Kind: Equatable {
        /// A name, a number, a duration or any text without quotes.
        case word(String)
        case quoted(String)
        /// `=`, `!=`, `<`, `<=`, `>`, `>=`, `~`, `!~`.
        case comparison(String)
        case openParenthesis
        case closeParenthesis
        case comma
        case end
    }

    var kind: Kind
    /// The first character's place, from 1.
    var column: Int

    var name: String {
        switch kind {
        case .word(let text): "\"\(text)\""
        case .quoted(let text): "'\(text)'"
        case .comparison(let sign): "\"\(sign)\""
        case .openParenthesis: "\"(\""
        case .closeParenthesis: "\")\""
        case .comma: "\",\""
        case .end: "the end"
        }
    }

    /// What is wrong at its place.
    func mistake(_ message: String) -> InputError { InputError(message, column: column) }

    /// Whether it is this word of the language, in any case.
    func isWord(_ word: String) -> Bool {
        if case .word(let text) = kind { text.lowercased() == word } else { false }
    }
}

/// Cuts a condition into its pieces.
struct WhereLexer {
    /// Longer ones are mistakes, or meant to hurt.
    static let longestText = 10_000

    private let characters: [Character]
    private var index = 0

    init(_ text: String) throws(InputError) {
        characters = Array(text)
        guard characters.count <= Self.longestText else {
            throw InputError("the condition has more than \(Self.longestText) characters", column: Self.longestText)
        }
    }

    mutating func tokens() throws(InputError) -> [WhereToken] {
        var tokens: [WhereToken] = []
        repeat { tokens.append(try next()) } while tokens.last?.kind != .end
        return tokens
    }

    private mutating func next() throws(InputError) -> WhereToken {
        while index < characters.count, characters[index].isWhitespace { index += 1 }
        let start = index
        guard index < characters.count else { return WhereToken(kind: .end, column: start + 1) }
        let character = characters[index]
        index += 1
        let kind: WhereToken.Kind
        switch character {
        case "(": kind = .openParenthesis
        case ")": kind = .closeParenthesis
        case ",": kind = .comma
        case "=", "~":
            // `==` for those who are used to it.
            if character == "=" { _ = skip("=") }
            kind = .comparison(String(character))
        case "<", ">": kind = .comparison(String(character) + (skip("=") ? "=" : ""))
        case "!":
            if skip("=") {
                kind = .comparison("!=")
            } else if skip("~") {
                kind = .comparison("!~")
            } else {
                throw error(start, "\"!\" stands alone; write != or !~, or the word not")
            }
        case "'", "\"": kind = .quoted(try quoted(character, from: start))
        default:
            while index < characters.count, Self.isOfWord(characters[index]) { index += 1 }
            kind = .word(String(characters[start..<index]))
        }
        return WhereToken(kind: kind, column: start + 1)
    }

    private mutating func skip(_ character: Character) -> Bool {
        guard index < characters.count, characters[index] == character else { return false }
        index += 1
        return true
    }

    /// Until the same quote; the quote twice is the quote itself.
    private mutating func quoted(_ quote: Character, from start: Int) throws(InputError) -> String {
        var text = ""
        while index < characters.count {
            let character = characters[index]
            index += 1
            if character == quote {
                guard skip(quote) else { return text }
            }
            text.append(character)
        }
        throw error(start, "the quote is not closed")
    }

    private static func isOfWord(_ character: Character) -> Bool {
        !character.isWhitespace && !"()=<>!~,'\"".contains(character)
    }

    private func error(_ index: Int, _ message: String) -> InputError {
        InputError(message, column: index + 1)
    }
}

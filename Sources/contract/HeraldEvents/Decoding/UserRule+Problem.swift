import HeraldBytes
package import HeraldText

extension UserRule {
    private static let expression = ASCIISet("!&|() ")

    /// The names of invisible characters for people.
    private static let names: [Unicode.Scalar: String] = [
        "\t": "a tab", "\n": "a line feed", "\r": "a carriage return", " ": "a space", "\u{A0}": "a no-break space",
        "\u{FEFF}": "a byte order mark",
    ]

    // What a problem says at its end for those who have the settings.
    private static let emptyTag = "; an empty tag could reach everybody"
    private static let tagExpression = ", because a tag expression could reach everybody"
    private static let setting =
        " (a tag's characters; backend.users: text allows all, in front of a backend of one's own)"

    /// A user's fault without what only settings can change.
    package static func plain(_ problem: String) -> String {
        [setting, tagExpression, emptyTag].reduce(problem) { $0.hasSuffix($1) ? String($0.dropLast($1.count)) : $0 }
    }

    /// The user's fault, if any.
    ///
    /// - Parameter user: UTF-8; other bytes are no problem of a text.
    package func problem(in user: RawSpan) -> String? {
        guard user.byteCount > 0 else { return "user is empty" + Self.emptyTag }
        switch self {
        case .tag:
            let alphabet = ASCIISet.tag
            for offset in 0..<user.byteCount where !alphabet.contains(user[byteAt: offset]) {
                return Self.illegalCharacter(in: user, at: offset)
            }
            guard user.byteCount <= maximumByteCount else {
                return "user has \(user.byteCount) characters; at most \(maximumByteCount) fit into a tag"
            }
        case .text:
            for offset in 0..<user.byteCount where Self.isControl(at: offset, in: user) {
                return "user holds \(Self.words(for: user, at: offset)), a control character, which no user can hold"
            }
            guard user.byteCount <= maximumByteCount else {
                return "user has \(user.byteCount) bytes of UTF-8; at most \(maximumByteCount) are allowed"
            }
        }
        return nil
    }

    /// Whether a control character begins there (Unicode's category Cc).
    private static func isControl(at offset: Int, in user: RawSpan) -> Bool {
        switch user[byteAt: offset] {
        case 0..<0x20, 0x7F: true
        case 0xC2: offset + 1 < user.byteCount && (0x80...0x9F).contains(user[byteAt: offset + 1])
        default: false
        }
    }

    private static func illegalCharacter(in user: RawSpan, at offset: Int) -> String {
        let isExpression = expression.contains(user[byteAt: offset])
        return
            "user holds \(words(for: user, at: offset)); a user has only A-Z a-z 0-9 _ @ # . : -"
            + (isExpression ? tagExpression : "") + setting
    }

    /// The character and its place, for people.
    private static func words(for user: RawSpan, at offset: Int) -> String {
        guard let scalar = user.extracting(offset..<user.byteCount).text.unicodeScalars.first else { return "" }
        let code = String(scalar.value, radix: 16, uppercase: true)
        let name = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
        let words = scalar.properties.isShown ? "'\(scalar)'" : names[scalar]
        let shown = words.map { "\($0) (\(name))" } ?? name
        let place = UTF8Text.characterCount(user.extracting(0..<offset)) ?? offset
        return "\(shown) as character \(place + 1)"
    }
}

extension Unicode.Scalar.Properties {
    /// Whether the character can stand in a line for people: a letter, a mark on its own excepted, a digit or a sign.
    fileprivate var isShown: Bool {
        switch generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .modifierLetter, .decimalNumber,
            .letterNumber, .otherNumber, .connectorPunctuation, .dashPunctuation, .openPunctuation,
            .closePunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol,
            .currencySymbol, .modifierSymbol, .otherSymbol:
            true
        default: false
        }
    }
}

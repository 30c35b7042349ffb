import HeraldBytes

/// The rule for an event's user, which becomes a tag of Azure Notification Hubs.
package enum UserTag {
    /// A tag's 120 characters without the nine of the backend's `username:`.
    package static let maximumCount = 111

    private static let alphabet = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@#.:-")
    private static let expression = ASCIISet("!&|() ")

    /// What people call characters that do not show.
    private static let names: [Unicode.Scalar: String] = [
        "\t": "a tab", "\n": "a line feed", "\r": "a carriage return", " ": "a space", "\u{A0}": "a no-break space",
        "\u{FEFF}": "a byte order mark",
    ]

    /// What is wrong with the user, or nothing.
    package static func problem(in user: RawSpan) -> String? {
        guard user.byteCount > 0 else { return "user is empty; an empty tag could reach everybody" }
        let alphabet = alphabet
        for offset in 0..<user.byteCount where !alphabet.contains(user[byteAt: offset]) {
            return illegalCharacter(in: user, at: offset)
        }
        guard user.byteCount <= maximumCount else {
            return "user has \(user.byteCount) characters; at most \(maximumCount) fit into a tag"
        }
        return nil
    }

    private static func illegalCharacter(in user: RawSpan, at offset: Int) -> String {
        guard let scalar = user.extracting(offset..<user.byteCount).text.unicodeScalars.first else {
            return "user is not allowed"
        }
        let code = String(scalar.value, radix: 16, uppercase: true)
        let name = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
        let words = scalar.properties.isShown ? "'\(scalar)'" : names[scalar]
        let shown = words.map { "\($0) (\(name))" } ?? name
        let isExpression = scalar.isASCII && expression.contains(UInt8(ascii: scalar))
        return
            "user holds \(shown) as character \(offset + 1), which a tag cannot hold; allowed are A-Z a-z 0-9 _ @ # . : -"
            + (isExpression ? ", because a tag expression could reach everybody" : "")
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

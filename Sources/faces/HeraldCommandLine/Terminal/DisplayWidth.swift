extension String {
    /// The terminal columns that it takes: two for East Asian wide characters and emoji, one for others.
    package var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

    /// The text in exactly that many columns: cut with an ellipsis, or padded with spaces.
    package func fitted(toColumns columns: Int) -> String {
        guard columns > 0 else { return "" }
        guard displayWidth > columns else { return self + String(repeating: " ", count: columns - displayWidth) }
        var text = ""
        var width = 0
        for character in self {
            guard width + character.displayWidth < columns else { break }
            text.append(character)
            width += character.displayWidth
        }
        return text + "…" + String(repeating: " ", count: columns - width - 1)
    }
}

extension Character {
    fileprivate var displayWidth: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

package enum Style: Sendable {
    case bold
    case dim
    case red
    case green
    case yellow

    private var code: String {
        switch self {
        case .bold: "1"
        case .dim: "2"
        case .red: "31"
        case .green: "32"
        case .yellow: "33"
        }
    }

    fileprivate func applied(to text: String) -> String { "\u{1B}[\(code)m\(text)\u{1B}[0m" }
}

extension Console {
    /// The text in that style if the stream is a terminal and colours are allowed, else unchanged.
    package func styled(_ text: String, _ style: Style, on stream: Stream) -> String {
        stream.isTerminal && allowsColor ? style.applied(to: text) : text
    }
}

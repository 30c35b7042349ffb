import CYAML
import HeraldText

/// Reads one YAML document into a ``SettingNode``.
///
/// Owns libyaml's parser, which is freed when the reader is; used by one thread at a time.
///
/// Settings files need no anchors, aliases, tags or second document, so these are refused: nothing can expand.
final class YAMLReader {
    private static let deepest = 16

    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let bytes: [UInt8]
    private var isInitialized = false

    /// Prepares to read UTF-8 bytes without a byte order mark; they must have been validated.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // libyaml's parser holds a pointer into itself, so it may not move.
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        isInitialized = yaml_parser_initialize(parser) == 1
    }

    deinit {
        if isInitialized { yaml_parser_delete(parser) }
        parser.deinitialize(count: 1)
        parser.deallocate()
    }

    func read() throws(InputError) -> SettingNode? {
        guard isInitialized else {
            throw InputError("no memory for the parser", at: SettingNode.Position(line: 1, column: 1))
        }
        // libyaml asserts that there is an input.
        guard !bytes.isEmpty else { return nil }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        // The bytes must not move while libyaml reads them.
        let result = bytes.withUnsafeBufferPointer { buffer in
            yaml_parser_set_input_string(parser, buffer.baseAddress, buffer.count)
            return Result { () throws(InputError) in try document() }
        }
        return try result.get()
    }

    private func document() throws(InputError) -> SettingNode? {
        var root: SettingNode?
        var documents = 0
        while true {
            let event = try next()
            switch event.kind {
            case .streamEnd: return root
            case .documentStart:
                documents += 1
                guard documents == 1 else {
                    throw InputError("a second document; only one is read", at: event.position)
                }
                root = try node(try next(), depth: 0)
            case .other: continue
            case .scalar, .listStart, .listEnd, .mapStart, .mapEnd:
                throw InputError("unexpected", at: event.position)
            }
        }
    }

    private func node(_ event: Event, depth: Int) throws(InputError) -> SettingNode {
        guard depth <= Self.deepest else {
            throw InputError("nested deeper than \(Self.deepest) levels", at: event.position)
        }
        switch event.kind {
        case .scalar(let text, let isPlain):
            let isNothing = isPlain && ["", "~", "null", "Null", "NULL"].contains(text)
            return SettingNode(isNothing ? .nothing : .scalar(text), at: event.position)
        case .listStart:
            var elements: [SettingNode] = []
            while true {
                let inner = try next()
                if case .listEnd = inner.kind { return SettingNode(.list(elements), at: event.position) }
                elements.append(try node(inner, depth: depth + 1))
            }
        case .mapStart:
            var entries: [SettingNode.Entry] = []
            while true {
                let key = try next()
                if case .mapEnd = key.kind { return SettingNode(.map(entries), at: event.position) }
                guard case .scalar(let name, _) = key.kind else {
                    throw InputError("a key must be plain text", at: key.position)
                }
                let value = try node(try next(), depth: depth + 1)
                entries.append(SettingNode.Entry(key: name, position: key.position, value: value))
            }
        case .streamEnd, .documentStart, .listEnd, .mapEnd, .other:
            throw InputError("unexpected", at: event.position)
        }
    }
}

extension YAMLReader {
    fileprivate struct Event {
        enum Kind {
            case scalar(String, isPlain: Bool)
            case listStart
            case listEnd
            case mapStart
            case mapEnd
            case documentStart
            case streamEnd
            case other
        }

        let kind: Kind
        let position: SettingNode.Position
    }

    /// The next event, copied; libyaml's own is freed before this returns.
    fileprivate func next() throws(InputError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
        defer { yaml_event_delete(&event) }
        let position = Self.position(event.start_mark)
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            try refuse(anchor: scalar.anchor, tag: scalar.tag, at: position)
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
            return Event(kind: .scalar(text, isPlain: isPlain), position: position)
        case YAML_SEQUENCE_START_EVENT:
            try refuse(anchor: event.data.sequence_start.anchor, tag: event.data.sequence_start.tag, at: position)
            return Event(kind: .listStart, position: position)
        case YAML_MAPPING_START_EVENT:
            try refuse(anchor: event.data.mapping_start.anchor, tag: event.data.mapping_start.tag, at: position)
            return Event(kind: .mapStart, position: position)
        case YAML_ALIAS_EVENT:
            throw InputError("aliases (*name) are not allowed; write the value out", at: position)
        case YAML_SEQUENCE_END_EVENT: return Event(kind: .listEnd, position: position)
        case YAML_MAPPING_END_EVENT: return Event(kind: .mapEnd, position: position)
        case YAML_DOCUMENT_START_EVENT: return Event(kind: .documentStart, position: position)
        case YAML_STREAM_END_EVENT: return Event(kind: .streamEnd, position: position)
        default: return Event(kind: .other, position: position)
        }
    }

    private func refuse(
        anchor: UnsafeMutablePointer<UInt8>?, tag: UnsafeMutablePointer<UInt8>?, at position: SettingNode.Position
    ) throws(InputError) {
        if anchor != nil {
            throw InputError("anchors (&name) are not allowed; write the value out", at: position)
        }
        if tag != nil { throw InputError("tags (!name) are not allowed", at: position) }
    }

    /// libyaml's error, with the likely cause when the text stops at a tab.
    private func syntaxError() -> InputError {
        let mark = parser.pointee.problem_mark
        var message = parser.pointee.problem.map { String(cString: $0) } ?? "is not YAML"
        if bytes.indices.contains(mark.index), byte(atCharacter: mark.index) == UInt8(ascii: "\t") {
            message = "a tab; YAML is indented with spaces"
        } else if let context = parser.pointee.context {
            message += " \(String(cString: context))"
        }
        return InputError("not valid YAML: \(message)", at: Self.position(mark))
    }

    /// libyaml counts characters, not bytes.
    private func byte(atCharacter index: Int) -> UInt8? {
        let text = String(decoding: bytes, as: UTF8.self).unicodeScalars
        guard let place = text.index(text.startIndex, offsetBy: index, limitedBy: text.endIndex),
            place < text.endIndex
        else { return nil }
        return UInt8(exactly: text[place].value)
    }

    private static func position(_ mark: yaml_mark_t) -> SettingNode.Position {
        SettingNode.Position(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}

extension InputError {
    fileprivate init(_ message: String, at position: SettingNode.Position) {
        self.init(message, line: position.line, column: position.column)
    }
}

package enum YAMLLibrary {
    package static var version: String { String(cString: yaml_get_version_string()) }
}

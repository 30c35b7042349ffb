internal import HeraldEvents
package import HeraldText

/// What a campaign's notifications have beside the message: templates as they are written or, of one recipient, filled in.
package struct CampaignContent: Codable, Equatable, Sendable {
    package var title: String?
    package var link: String?
    package var image: String?
    package var data: [String: String]?
    /// The number on the app's icon, the same for all.
    package var badge: Int?
    /// The sound's name, the same for all.
    package var sound: String?
    /// The category, the same for all.
    package var category: String?

    package init() {}

    /// It without texts that are empty.
    var given: Self {
        var content = self
        for part in [\Self.title, \.link, \.image, \.sound, \.category] where content[keyPath: part]?.isEmpty == true {
            content[keyPath: part] = nil
        }
        if content.data?.isEmpty == true { content.data = nil }
        return content
    }

    /// It with the parts of another where it has none.
    package func continuing(_ former: Self?) -> Self {
        var content = given
        guard let former else { return content }
        for part in [\Self.title, \.link, \.image, \.sound, \.category] {
            content[keyPath: part] = content[keyPath: part] ?? former[keyPath: part]
        }
        content.data = content.data ?? former.data
        content.badge = content.badge ?? former.badge
        return content
    }

    /// The parts that there are.
    var fields: ContentFields { ContentFields(ContentField.allCases.filter { value($0) != nil }) }

    /// Whether there is nothing.
    var isEmpty: Bool { self == Self() }

    /// The parts that another has differently, in words.
    func differences(from other: Self) -> [String] {
        ContentField.allCases.compactMap { field in
            let own = value(field)
            guard own != other.value(field) else { return nil }
            return own == nil ? "it has no \(field.rawValue)" : "its \(field.rawValue) is another"
        }
    }

    /// The parts that there are, in the contract's order, each with its name: `title`, or `data.order` for a member of data.
    package var texts: [(name: String, text: String)] {
        ContentField.allCases.flatMap { field -> [(String, String)] in
            switch value(field) {
            case .string(let text)?: [(field.rawValue, text)]
            case .integer(let number)?: [(field.rawValue, "\(number)")]
            case .object?:
                (data ?? [:]).sorted { $0.key < $1.key }.map { ("\(field.rawValue).\($0.key)", $0.value) }
            default: []
            }
        }
    }

    /// As options of the command.
    ///
    /// - Parameter isMasked: whether it is for people who may not see the texts.
    package func options(isMasked: Bool) -> [String] {
        let data = "\(ContentField.data.rawValue)."
        return texts.flatMap { name, text in
            let shown = isMasked ? "…" : text
            return name.hasPrefix(data)
                ? ["--data", "\(name.dropFirst(data.count))=\(shown)"] : ["--\(name)", shown]
        }
    }

    /// Its members in JSON.
    ///
    /// - Parameter shown: how a text is shown.
    package func members(_ shown: (String) -> String = { $0 }) -> [JSONValue.Member] {
        ContentField.allCases.compactMap { field in value(field, shown).map { .init(field.rawValue, $0) } }
    }

    private func value(_ field: ContentField, _ shown: (String) -> String = { $0 }) -> JSONValue? {
        switch field {
        case .title: title.map { .string(shown($0)) }
        case .link: link.map { .string(shown($0)) }
        case .image: image.map { .string(shown($0)) }
        case .data:
            data.flatMap { data in
                data.isEmpty
                    ? nil : .object(data.sorted { $0.key < $1.key }.map { .init($0.key, .string(shown($0.value))) })
            }
        case .badge: badge.map { .integer($0) }
        case .sound: sound.map { .string($0) }
        case .category: category.map { .string($0) }
        }
    }
}

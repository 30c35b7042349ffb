import HeraldEvents
import HeraldText

extension SettingType {
    /// A list of elements that differ in `key`.
    static func list<Element, Key: Hashable & SendableMetatype>(
        of element: SettingType<Element>, count: ClosedRange<Int>, unique key: @escaping @Sendable (Element) -> Key,
        shape: SettingNode.Shape = .list
    ) -> Self where Value == [Element] {
        let allowed = "\(count.lowerBound) to \(count.upperBound) different elements, each \(element.traits.allowed)"
        return SettingType(
            traits: SettingTraits(
                shape: shape, placeholder: "\(element.traits.placeholder),…", allowed: allowed,
                schema: [
                    "anyOf": [
                        ["type": "string", "description": "The elements, comma-separated."],
                        [
                            "type": "array", "items": element.traits.schema,
                            "minItems": .integer(count.lowerBound), "maxItems": .integer(count.upperBound),
                            "uniqueItems": true,
                        ],
                    ]
                ]),
            decode: { node, report in
                guard let nodes = node.elements(&report) else { return nil }
                guard count.contains(nodes.count) else {
                    report.refuse(node, "", "has \(nodes.count) elements; allowed: \(allowed)")
                    return nil
                }
                var values: [Element] = []
                var indexes: [Key: Int] = [:]
                for (index, node) in nodes.enumerated() {
                    var inner = report.inside("[\(index)]")
                    if let value = element.decode(node, &inner) {
                        if let first = indexes.updateValue(index, forKey: key(value)) {
                            inner.refuse(node, "", "is the same as [\(first)]; allowed: \(allowed)")
                        }
                        values.append(value)
                    }
                    report.add(inner)
                }
                return values.count == nodes.count && indexes.count == nodes.count ? values : nil
            },
            show: { values in .array(values.map(element.show)) })
    }

    /// The same list, each element greater than the one before in `measure`.
    func increasing<Element, Measure: Comparable & SendableMetatype>(
        _ measure: @escaping @Sendable (Element) -> Measure
    ) -> Self where Value == [Element] {
        var type = self
        type.traits.allowed += ", each longer than the one before"
        type.decode = { [decode, allowed = type.traits.allowed] node, report in
            guard let values = decode(node, &report), case .list(let nodes) = node.content else { return nil }
            var isIncreasing = true
            for index in values.indices.dropFirst() where measure(values[index]) <= measure(values[index - 1]) {
                report.refuse(
                    nodes[index], "[\(index)]", "is not longer than [\(index - 1)] before it; allowed: \(allowed)")
                isIncreasing = false
            }
            return isIncreasing ? values : nil
        }
        return type
    }

    /// A map whose keys and values are read by `entry`; a repeated key is refused.
    static func map<Key: Hashable & Comparable & Sendable, Element>(
        keys: TextRule, key: @escaping @Sendable (String) -> Key?, values element: SettingType<Element>,
        placeholder: String, atMost limit: Int = 1_000, show: (@Sendable (Key, Element) -> JSONValue)? = nil
    ) -> Self where Value == [Key: Element] {
        let allowed = "keys of \(keys.allowed); values: \(element.traits.allowed)"
        return SettingType(
            traits: SettingTraits(
                shape: .map, placeholder: placeholder, allowed: allowed,
                schema: [
                    "type": "object", "propertyNames": ["pattern": .string(keys.pattern)],
                    "additionalProperties": element.traits.schema, "maxProperties": .integer(limit),
                ]),
            decode: { node, report in
                guard let entries = node.entries(&report) else { return nil }
                var map: [Key: Element] = [:]
                for (index, entry) in entries.enumerated() {
                    // A comma splits a secret in a flag or the environment, and the pieces are not valid names.
                    let isSecretPiece = element.traits.isSecret && entry.position == nil
                    var inner = report.inside("." + entry.key)
                    if isSecretPiece, !keys.accepts(entry.key) || entry.value.isNothing {
                        let message = "entry \(index + 1) is not NAME=VALUE; a comma inside of a value is written \\,"
                        inner.refuse(at: nil, report.path, message)
                    } else if let key = keys.accepts(entry.key) ? key(entry.key) : nil {
                        if let value = element.decode(entry.value, &inner) {
                            if map.updateValue(value, forKey: key) != nil {
                                inner.refuse(at: entry.position, inner.path, "is written twice")
                            }
                        }
                    } else {
                        let name = SafeText.quoted(entry.key)
                        inner.refuse(at: entry.position, report.path, "key \(name) is unknown; allowed: \(allowed)")
                    }
                    report.add(inner)
                }
                guard map.count <= limit else {
                    report.refuse(node, "", "has \(map.count) entries; at most \(limit) are allowed")
                    return nil
                }
                return map.count == entries.count ? map : nil
            },
            show: { map in
                .object(
                    map.sorted { $0.key < $1.key }.map { key, value in
                        JSONValue.Member("\(key)", show?(key, value) ?? element.show(value))
                    })
            })
    }
}

extension SettingType<[String: EventClass]> {
    /// `{notifications.bulk: promotional}`.
    static var classes: Self {
        .map(keys: .topic(), key: { $0 }, values: .choice(EventClass.self), placeholder: "TOPIC=CLASS,…", atMost: 16)
    }
}

extension SettingType<RequestTopic> {
    /// A topic's name, or `{name, weight}`.
    static var requestTopic: Self {
        let name = SettingType<String>.text(.topic(), "TOPIC")
        let weight = SettingType<Int>.wholeNumber(1...100)
        let allowed = "a topic's name, or {name, weight} with a weight of \(weight.traits.allowed)"
        return SettingType(
            traits: SettingTraits(
                placeholder: "TOPIC", allowed: allowed,
                schema: [
                    "anyOf": [
                        name.traits.schema,
                        [
                            "type": "object", "additionalProperties": false, "required": ["name"],
                            "properties": ["name": name.traits.schema, "weight": weight.traits.schema],
                        ],
                    ]
                ]),
            decode: { node, report in
                guard case .map(let entries) = node.content else {
                    return name.decode(node, &report).map { RequestTopic(name: $0) }
                }
                var topic: String?
                var share: Int? = RequestTopic.standardWeight
                for (index, entry) in entries.enumerated() {
                    var inner = report.inside("." + entry.key)
                    if entries[..<index].contains(where: { $0.key == entry.key }) {
                        inner.refuse(at: entry.position, inner.path, "is written twice")
                    } else if entry.key == "name" {
                        topic = name.decode(entry.value, &inner)
                    } else if entry.key == "weight" {
                        share = weight.decode(entry.value, &inner)
                    } else {
                        inner.refuse(at: entry.position, inner.path, "unknown key; allowed: \(allowed)")
                    }
                    report.add(inner)
                }
                if !entries.contains(where: { $0.key == "name" }) {
                    report.refuse(node, "", "has no name; allowed: \(allowed)")
                }
                guard let topic, let share else { return nil }
                return RequestTopic(name: topic, weight: share)
            },
            show: { topic in
                topic.weight == RequestTopic.standardWeight
                    ? .string(topic.name) : ["name": .string(topic.name), "weight": .integer(topic.weight)]
            })
    }
}

extension SettingNode {
    fileprivate var isNothing: Bool {
        if case .nothing = content { true } else { false }
    }

    fileprivate func elements(_ report: inout SettingsReport) -> [SettingNode]? {
        switch content {
        case .list(let nodes): return nodes
        case .nothing: report.refuse(self, "", "has no value; an empty list is written []")
        // Allowed as in the environment and flags, and as Kafka's own clients write their brokers.
        case .scalar(let text):
            let elements = SettingNode(texts: [text], shape: .list)
            guard case .list(let nodes) = elements.content else { return [self] }
            return nodes.map { SettingNode($0.content, at: position) }
        case .map: report.refuse(self, "", "is a map; a list is wanted: [a, b]")
        }
        return nil
    }

    fileprivate func entries(_ report: inout SettingsReport) -> [Entry]? {
        switch content {
        case .map(let entries): return entries
        case .nothing: report.refuse(self, "", "has no value; an empty map is written {}")
        case .scalar, .list: report.refuse(self, "", "is no map; a map is wanted: {key: value}")
        }
        return nil
    }
}

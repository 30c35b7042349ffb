import HeraldEvents
import HeraldText
import HeraldTime

extension SettingType<CapRule> {
    /// `{class: promotional, source: shop, limit: 3, per: 24h}`, or `3/24h` for all sources.
    static var capRule: Self {
        let limit = SettingType<Int>.wholeNumber(CapRule.limits)
        let per = SettingType<Duration>.duration(CapRule.shortest.duration...CapRule.longest.duration)
        let source = SettingType<String>.text(.line(1_024), "SOURCE")
        let allowed =
            "{class: promotional, source, limit, per} with a limit of \(limit.traits.allowed), a per of "
            + "\(per.traits.allowed), and a source, or * for all; or LIMIT/PER, such as 3/24h"
        return SettingType(
            traits: SettingTraits(
                placeholder: "LIMIT/PER", allowed: allowed,
                schema: [
                    "anyOf": [
                        ["type": "string", "pattern": "^[0-9]{1,3}/[1-9][0-9]{0,9}(ms|s|m|h|d)$"],
                        [
                            "type": "object", "additionalProperties": false, "required": ["limit", "per"],
                            "properties": [
                                "class": ["enum": ["promotional"]], "source": ["type": "string"],
                                "limit": limit.traits.schema, "per": per.traits.schema,
                            ],
                        ],
                    ]
                ]),
            decode: { node, report in
                guard case .map(let entries) = node.content else {
                    guard let text = node.text(&report) else { return nil }
                    if let rule = CapRule(text) { return rule }
                    report.refuse(node, "", "is no cap; allowed: \(allowed)")
                    return nil
                }
                var rule: (source: String?, limit: Int?, per: Duration?) = (nil, nil, nil)
                var isSound = true
                for (index, entry) in entries.enumerated() {
                    var inner = report.inside("." + entry.key)
                    if entries[..<index].contains(where: { $0.key == entry.key }) {
                        inner.refuse(at: entry.position, inner.path, "is written twice")
                        isSound = false
                    } else {
                        switch entry.key {
                        case "class": isSound = decodeClass(entry.value, &inner) && isSound
                        case "source":
                            let name = source.decode(entry.value, &inner)
                            isSound = isSound && name != nil
                            rule.source = name == "*" ? nil : name
                        case "limit": rule.limit = limit.decode(entry.value, &inner)
                        case "per": rule.per = per.decode(entry.value, &inner)
                        default:
                            inner.refuse(at: entry.position, inner.path, "unknown key; allowed: \(allowed)")
                            isSound = false
                        }
                    }
                    report.add(inner)
                }
                for name in ["limit", "per"] where !entries.contains(where: { $0.key == name }) {
                    report.refuse(node, "", "has no \(name); allowed: \(allowed)")
                }
                guard isSound, let limit = rule.limit, let per = rule.per else { return nil }
                return CapRule(source: rule.source, limit: limit, per: Milliseconds(per))
            },
            show: { rule in
                guard let source = rule.source else { return .string(rule.text) }
                return [
                    "source": .string(source), "limit": .integer(rule.limit),
                    "per": .string(DurationText.format(rule.per.duration)),
                ]
            })
    }

    private static func decodeClass(_ node: SettingNode, _ report: inout SettingsReport) -> Bool {
        guard let eventClass = SettingType<EventClass>.choice(EventClass.self).decode(node, &report) else {
            return false
        }
        if eventClass == .promotional { return true }
        report.refuse(node, "", "has to be promotional: transactional events are never capped")
        return false
    }
}

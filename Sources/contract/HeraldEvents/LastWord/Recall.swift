import HeraldBytes
public import HeraldText
public import HeraldTime

/// A recall: a record of the recalls topic, by which events end without a call, whenever they come.
///
/// A record without a value withdraws it.
public struct Recall: Equatable, Sendable {
    /// What is recalled: the record's key.
    public enum Subject: Hashable, Sendable {
        /// The events with this id and source for a user; without a source those that have none.
        case event(id: String, user: String, source: String?)
        /// The events of a campaign.
        case campaign(String)
    }

    /// When it was said.
    public var at: WallTime?
    /// Who said it.
    public var by: String?
    /// Why, for people.
    public var reason: String?

    /// A recall.
    public init(at: WallTime? = nil, by: String? = nil, reason: String? = nil) {
        self.at = at
        self.by = by
        self.reason = reason
    }

    /// The record's value.
    public func encoded() -> [UInt8] {
        var output: [UInt8] = []
        var writer = JSONObjectWriter()
        if let at { writer.append("at", at, to: &output) }
        if let by { writer.append("by", by, to: &output) }
        if let reason { writer.append("reason", reason, to: &output) }
        writer.end(&output)
        return output
    }

    /// Reads a record's value; unknown members are ignored.
    ///
    /// - Returns: the problem as a continuation of "the record", whose key recalls all the same; `nil` for a sound one.
    public static func reading(_ value: RawSpan) -> (recall: Recall, problem: String?) {
        let object: JSONValue
        do throws(JSONError) {
            object = try JSONValue(value)
        } catch {
            return (Recall(), "\(error)")
        }
        guard case .object = object else { return (Recall(), "is not a JSON object") }
        let recall = Recall(at: object["at"]?.time, by: object["by"]?.string, reason: object["reason"]?.string)
        return (recall, nil)
    }
}

extension Recall.Subject {
    private static let campaignPrefix = "campaign:"

    /// The record's key; the same subject always has the same.
    public var key: [UInt8] {
        switch self {
        case .campaign(let name): return Array("\(Self.campaignPrefix)\(name)".utf8)
        case .event(let id, let user, let source):
            var output: [UInt8] = []
            var writer = JSONObjectWriter()
            writer.append("id", id, to: &output)
            writer.append("user", user, to: &output)
            if let source { writer.append("source", source, to: &output) }
            writer.end(&output)
            return output
        }
    }

    /// Reads a record's key.
    ///
    /// - Throws: what is wrong with it, as a continuation of "the record".
    public init(key: RawSpan) throws(InvalidArgument) {
        let text = key.text
        if text.hasPrefix(Self.campaignPrefix) {
            let name = String(text.dropFirst(Self.campaignPrefix.count))
            guard !name.isEmpty else { throw InvalidArgument("has a key that names no campaign") }
            self = .campaign(name)
            return
        }
        let object: JSONValue
        do throws(JSONError) {
            object = try JSONValue(key)
        } catch {
            throw InvalidArgument("has a key that is neither campaign:NAME nor JSON: it \(error)")
        }
        guard case .object = object else { throw InvalidArgument("has a key that is not a JSON object") }
        func named(_ name: String) throws(InvalidArgument) -> String {
            guard let text = object[name]?.string, !text.isEmpty else {
                throw InvalidArgument("has a key whose \(name) is no text; it has to be as in the event")
            }
            return text
        }
        let source = object["source"] ?? .null
        self = .event(
            id: try named("id"), user: try named("user"), source: source == .null ? nil : try named("source"))
    }
}

/// The body of `PUT /api/register/{id}`; the names are read without regard to case, as ASP.NET does.
struct DeviceDescription: Decodable {
    var platform: String
    var handle: String
    var tags: [String]

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func key(_ name: String) -> Key {
            container.allKeys.first { $0.stringValue.lowercased() == name } ?? Key(stringValue: name)
        }
        platform = try container.decode(String.self, forKey: key("platform"))
        handle = try container.decode(String.self, forKey: key("handle"))
        tags = try container.decodeIfPresent([String].self, forKey: key("tags")) ?? []
    }
}

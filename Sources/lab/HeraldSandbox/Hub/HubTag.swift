/// What a tag may be.
enum HubTag {
    static let lengthLimit = 120
    /// Of one registration.
    static let countLimit = 60

    private static let own = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@#.:-".utf8)

    static func isHex(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// What is wrong with a tag, to stand behind "has"; `nil` when nothing is.
    ///
    /// Tags of the system (`$InstallationId:{…}`, `$UserId:{…}`) may be sent to, but not set.
    static func mistake(in tag: String, isOfSystem: Bool = false) -> String? {
        guard !tag.isEmpty else { return "an empty tag" }
        guard tag.utf8.count <= lengthLimit else { return "a tag of more than \(lengthLimit) characters" }
        if isOfSystem {
            let isKnown = ["$InstallationId:{", "$UserId:{"].contains { tag.hasPrefix($0) } && tag.hasSuffix("}")
            return isKnown ? nil : "a tag of the system that does not exist"
        }
        return tag.utf8.allSatisfy { own.contains($0) } ? nil : "a tag with a character beside A-Z a-z 0-9 _ @ # . : -"
    }
}

import HeraldBytes
public import HeraldText

/// The push services that events may name, with their aliases, looked up by bytes without making strings.
public struct PushServices: Sendable {
    /// The largest number of push services, because a ``PushServiceSet`` has that many bits.
    public static let maximumCount = 64

    /// The most characters of a push service's name.
    public static let maximumNameCount = 32

    /// The three push services that the backend knows: `apns`, `gcm`, which `fcm` stands for too, and `wns`.
    public static let standard = PushServices(verified: ["apns", "gcm", "wns"], aliases: ["fcm": 1])

    /// The names in lower case; a push service is known everywhere by its index here.
    public let names: [String]

    /// Other names, in lower case, and the index that each stands for.
    public let aliases: [String: Int]

    private var spellings: [UInt8] = []
    private var entries: [Entry] = []

    private struct Entry {
        var start: Int
        var count: Int
        var index: Int
    }

    /// The push services of the settings; names are lower-cased.
    ///
    /// Rejected are an empty list, more than 64 names, an empty name, one of more than 32 characters or with a comma, a
    /// repeated one, and an alias of an unlisted name or one that is itself listed.
    public init(names: [String], aliases: [String: String] = [:]) throws(InvalidArgument) {
        let names = names.map { $0.lowercased() }
        guard !names.isEmpty, names.count <= Self.maximumCount else {
            throw InvalidArgument("there are \(names.count) push services; allowed are 1 to \(Self.maximumCount)")
        }
        guard Set(names).count == names.count else {
            throw InvalidArgument("a push service is named twice: \(names.joined(separator: ", "))")
        }
        var resolved: [String: Int] = [:]
        for (alias, name) in aliases {
            guard let index = names.firstIndex(of: name.lowercased()) else {
                throw InvalidArgument("the alias \(alias) stands for \(name), which is not a push service")
            }
            guard resolved.updateValue(index, forKey: alias.lowercased()) == nil,
                !names.contains(alias.lowercased())
            else { throw InvalidArgument("the alias \(alias) is a push service's name or another alias already") }
        }
        for name in names + resolved.keys
        where name.isEmpty || name.utf8.count > Self.maximumNameCount
            || !name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") })
        {
            throw InvalidArgument(
                "\"\(name)\" cannot name a push service; use 1 to \(Self.maximumNameCount) characters of visible ASCII "
                    + "without commas")
        }
        self.init(verified: names, aliases: resolved)
    }

    private init(verified names: [String], aliases: [String: Int]) {
        self.names = names
        self.aliases = aliases
        for (index, name) in names.enumerated() { add(name, index: index) }
        for (alias, index) in aliases { add(alias, index: index) }
    }

    private mutating func add(_ spelling: String, index: Int) {
        entries.append(Entry(start: spellings.count, count: spelling.utf8.count, index: index))
        spellings.append(contentsOf: spelling.utf8)
    }

    /// All of the push services.
    public var all: PushServiceSet {
        PushServiceSet(rawValue: names.count == Self.maximumCount ? .max : (1 << UInt64(names.count)) - 1)
    }

    /// The index of the push service with this name or alias, in any case.
    public func index(of name: RawSpan) -> Int? {
        for entry in entries where entry.count == name.byteCount && matches(entry, name) { return entry.index }
        return nil
    }

    /// The name of the push service with this index as bytes; an index outside of the list traps.
    @_lifetime(borrow self)
    public func bytes(ofName index: Int) -> RawSpan {
        let entry = entries[index]
        return spellings.span.bytes.extracting(entry.start..<entry.start + entry.count)
    }

    /// Appends the names of the set, separated by commas.
    public func appendNames(of set: PushServiceSet, to output: inout [UInt8]) {
        var isFirst = true
        for index in set where index < names.count {
            if !isFirst { output.append(0x2C) }
            output.append(copying: bytes(ofName: index))
            isFirst = false
        }
    }

    /// The set that a comma-separated list names, or nothing when it is empty or names something unknown.
    public func set(commaSeparated list: RawSpan) -> PushServiceSet? {
        var set: PushServiceSet = []
        var start = 0
        for offset in 0...list.byteCount where offset == list.byteCount || list[byteAt: offset] == 0x2C {
            guard let index = index(of: list.extracting(start..<offset)) else { return nil }
            set.insert(index)
            start = offset + 1
        }
        return set
    }

    private func matches(_ entry: Entry, _ name: RawSpan) -> Bool {
        for offset in 0..<entry.count {
            let byte = name[byteAt: offset]
            let isUpperCase = byte >= 0x41 && byte <= 0x5A
            guard spellings[entry.start + offset] == (isUpperCase ? byte | 0x20 : byte) else { return false }
        }
        return true
    }
}

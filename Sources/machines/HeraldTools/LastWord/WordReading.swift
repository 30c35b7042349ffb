internal import HeraldEvents
internal import HeraldTime

/// What the preferences topic says of some users, record after record: pure.
struct WordReading {
    private let users: [String]
    private let pushServices: PushServices
    private let findsKeptWords: Bool
    /// The places in ``users`` by the keys that their words may have: their own, and behind these those of kept words.
    private var places: [[UInt8]: Int] = [:]
    private var own: [String: LastWordContext.Entry] = [:]
    private var kept: [String: LastWordContext.Entry] = [:]
    private var hidden: Set<Int> = []

    init(of users: [String], kept: KeptNames?, pushServices: PushServices) {
        (self.users, self.pushServices, findsKeptWords) = (users, pushServices, kept != nil)
        let keys =
            users.map { Array($0.utf8) }
            + users.compactMap { user in kept.map { $0.key(of: user.utf8.span.bytes) } }
        places = Dictionary(zip(keys, keys.indices)) { first, _ in first }
    }

    /// The users' words, those who have said nothing left out.
    var words: [String: LastWordContext.Entry] { kept.merging(own) { _, own in own } }

    /// How many words of forgotten users there are of which it is not known whose they are.
    var hiddenCount: Int { hidden.count }

    /// Takes the next record.
    mutating func take(key: [UInt8], value: @autoclosure () -> [UInt8]?, at place: LastWordContext.Place) {
        guard let index = places[key] else {
            guard !findsKeptWords, Preference.isKept(under: key.span.bytes) else { return }
            if value() == nil { hidden.remove(key.hashValue) } else { hidden.insert(key.hashValue) }
            return
        }
        let user = users[index % users.count]
        if index < users.count {
            own[user] = value().map { value in
                var entry = LastWordContext.Entry(value, after: own[user] ?? kept[user], pushServices: pushServices)
                entry.place = place
                return entry
            }
        } else {
            kept[user] = value().map { value in
                let preference = LastWordContext.Entry(value, after: nil, pushServices: pushServices).preference
                return LastWordContext.Entry(preference: preference, isKept: true, place: place)
            }
        }
    }
}

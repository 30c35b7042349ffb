/// Recipients by their ids, in little memory: 76 bits of each id and a byte of marks.
///
/// The first 12 bits choose one of 4096 tables, and the next 64 stand in it (open addressing, at most seven eighths full,
/// growing by a quarter): 10.3 to 13 bytes for each recipient, 130 MB for ten million. Two different users are
/// taken for one, and the second of them is not notified, when these 76 bits agree: with n recipients that happens in a
/// share of at most n²/2⁷⁷ of all campaigns, which is less than one in a billion for n = 10 000 000.
package struct RecipientSet: Sendable {
    package struct Marks: OptionSet, Sendable {
        package let rawValue: UInt8

        /// Marks with these bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// He was seen in the audience.
        package static let seen = Marks(rawValue: 1)
        /// His event is in the request topic.
        package static let published = Marks(rawValue: 2)
        /// A push service has taken a notification for him.
        static let reached = Marks(rawValue: 4)
        /// It was said why he was not reached.
        static let told = Marks(rawValue: 8)
        /// He was seen in the audience, and is left out.
        package static let excluded = Marks(rawValue: 16)
        /// The place in a table is taken.
        fileprivate static let taken = Marks(rawValue: 128)
    }

    private var tables: [Table]
    /// How many recipients there are.
    package private(set) var count = 0

    /// An empty set.
    package init() {
        tables = Array(repeating: Table(), count: 4_096)
    }

    /// Adds marks to a recipient, who is in the set from then on; what was known before.
    @discardableResult
    package mutating func insert(_ id: RecipientID, _ marks: Marks) -> Marks {
        let former = tables[Self.table(id)].insert(Self.key(id), marks)
        if former.isEmpty { count += 1 }
        return former.subtracting(.taken)
    }

    /// Puts these marks in the place of those that a recipient has, who is in the set from then on.
    mutating func assign(_ marks: Marks, to id: RecipientID) {
        if tables[Self.table(id)].insert(Self.key(id), marks, keeping: []).isEmpty { count += 1 }
    }

    /// The marks of a recipient; none when he is not in the set.
    func marks(of id: RecipientID) -> Marks { tables[Self.table(id)].marks(of: Self.key(id)) }

    mutating func removeFromAll(_ marks: Marks) {
        for index in tables.indices { tables[index].removeFromAll(marks) }
    }

    private static func table(_ id: RecipientID) -> Int { Int(id.high >> 52) }

    private static func key(_ id: RecipientID) -> UInt64 { id.high << 12 | id.low >> 52 }

    private struct Table: Sendable {
        private var keys: [UInt64] = []
        private var marks: [UInt8] = []
        private var count = 0

        /// - Parameter kept: of what is known before, what stays.
        mutating func insert(
            _ key: UInt64, _ added: Marks, keeping kept: Marks = Marks(rawValue: .max)
        ) -> Marks {
            if count * 8 >= keys.count * 7 { grow() }
            let place = place(of: key)
            let former = Marks(rawValue: marks[place])
            if former.isEmpty {
                keys[place] = key
                count += 1
            }
            marks[place] = former.intersection(kept).union(added).union(.taken).rawValue
            return former
        }

        func marks(of key: UInt64) -> Marks {
            keys.isEmpty ? [] : Marks(rawValue: marks[place(of: key)]).subtracting(.taken)
        }

        mutating func removeFromAll(_ removed: Marks) {
            for place in marks.indices { marks[place] &= ~removed.rawValue }
        }

        /// Where the key stands, or the free place where it would.
        private func place(of key: UInt64) -> Int {
            // Keys are as good as random: their upper bits, scaled to the table, are the place to begin at.
            var place = Int(key.multipliedFullWidth(by: UInt64(keys.count)).high)
            while marks[place] != 0, keys[place] != key {
                place += 1
                if place == keys.count { place = 0 }
            }
            return place
        }

        private mutating func grow() {
            let (oldKeys, oldMarks) = (keys, marks)
            let capacity = keys.count + keys.count / 4 + 8
            keys = Array(repeating: 0, count: capacity)
            marks = Array(repeating: 0, count: capacity)
            for index in oldKeys.indices where oldMarks[index] != 0 {
                let place = place(of: oldKeys[index])
                keys[place] = oldKeys[index]
                marks[place] = oldMarks[index]
            }
        }
    }
}

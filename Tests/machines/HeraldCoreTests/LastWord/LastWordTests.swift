import Foundation
import HeraldEvents
import HeraldTime
import Synchronization
import Testing

@testable import HeraldCore

@Suite("The table of last words")
struct LastWordTests {
    private let word = LastWord(hashSeed: 3, pushServices: .standard, maxLag: .seconds(5))

    private func suppression(
        _ user: String, _ eventClass: EventClass = .promotional, _ service: Int = 0, source: String? = nil
    )
        -> Suppression?
    {
        let said = word.said(
            identity: 1, user: ByteHash.hash(user.utf8.span.bytes, seed: 3),
            source: source.map { ByteHash.hash($0.utf8.span.bytes, seed: 3) } ?? 0, campaign: 0, of: eventClass,
            to: service)
        return if case .suppressed(let suppression)? = said { suppression } else { nil }
    }

    private func optOut(_ change: (inout OptOut) -> Void) -> OptOut {
        var optOut = OptOut()
        change(&optOut)
        return optOut
    }

    private func set(_ user: String, _ change: (inout OptOut) -> Void) {
        word.set(optOut(change), of: user.utf8.span.bytes)
    }

    @Test("has an entry for an opt-out alone, and a new word replaces the former one")
    func words() {
        set("ann") { _ in }
        #expect(word.users == 0)
        set("ann") { $0.isOfPromotional = true }
        #expect(suppression("ann") == .optedOut(.promotional))
        #expect(word.users == 1)
        set("ann") { $0.pushServices = ["wns"] }
        #expect(suppression("ann") == nil && suppression("ann", .transactional, 2) == .optedOut(.pushService))
        word.set(nil, of: "ann".utf8.span.bytes)
        #expect(suppression("ann", .transactional, 2) == nil && word.users == 0)
    }

    @Test("opts nobody in by a broken record: what is understood of it is added to the former word")
    func broken() {
        set("ann") { $0.sources = ["shop"] }
        word.refuse(optOut { $0.pushServices = ["gcm"] }, of: "ann".utf8.span.bytes)
        #expect(suppression("ann", source: "shop") == .optedOut(.source))
        #expect(suppression("ann", .transactional, 1) == .optedOut(.pushService))
        #expect(suppression("ann") == nil)
        word.refuse(OptOut(), of: "bob".utf8.span.bytes)
        #expect(suppression("bob") == .optedOut(.promotional), "without a former word nothing promotional is sent")
        #expect(suppression("bob", .transactional) == nil)
        // Quiet hours are no opt-out.
        word.set(OptOut(), quiet: QuietHours(start: 0, end: 1), of: "eve".utf8.span.bytes)
        #expect(suppression("eve") == nil)
        word.refuse(OptOut(), of: "eve".utf8.span.bytes)
        #expect(suppression("eve") == .optedOut(.promotional))
    }

    private static func kept(_ user: RawSpan) -> [UInt8] {
        Array("kept-".utf8) + user.withUnsafeBytes { $0.reversed() }
    }

    private func suppression(_ word: LastWord, _ user: String, kept: UInt64) -> Suppression? {
        let own = ByteHash.hash(user.utf8.span.bytes, seed: 3)
        let said = word.said(
            identity: 1, user: word.wordHash(user: own, kept: kept), source: 0, campaign: 0, of: .promotional, to: 0)
        return if case .suppressed(let suppression)? = said { suppression } else { nil }
    }

    @Test("has what was kept of a forgotten user, until the user says something else")
    func keeping() {
        let word = LastWord(
            hashSeed: 3, pushServices: .standard, maxLag: .seconds(5), keptName: { Self.kept($0) })
        let ann = "ann".utf8.span.bytes
        let promotional = optOut { $0.isOfPromotional = true }
        word.noteCurrent(asOf: MonotonicTime(nanoseconds: 1))
        #expect(word.keptHash(of: ann) == 0, "while nothing is kept no event pays for it")
        word.set(promotional, of: ann)
        // As an event has it that was taken in before.
        let before = word.keptHash(of: ann)
        let name = Self.kept(ann)
        word.keep(promotional, under: name.span.bytes)
        word.set(nil, of: ann)
        #expect(suppression(word, "ann", kept: before) == .optedOut(.promotional))
        // As after a restart, when compaction has removed the tombstone.
        let restarted = LastWord(
            hashSeed: 3, pushServices: .standard, maxLag: .seconds(5), keptName: { Self.kept($0) })
        #expect(restarted.keptHash(of: ann) != 0, "before the topics are read anything may be kept")
        restarted.keep(promotional, under: name.span.bytes)
        let kept = restarted.keptHash(of: ann)
        #expect(suppression(restarted, "ann", kept: kept) == .optedOut(.promotional))
        #expect(suppression(restarted, "bob", kept: restarted.keptHash(of: "bob".utf8.span.bytes)) == nil)
        restarted.set(OptOut(), of: ann)
        #expect(suppression(restarted, "ann", kept: kept) == nil, "who comes back and wants everything has said so")
        restarted.refuse(OptOut(), of: "bob".utf8.span.bytes)
        restarted.set(nil, of: ann)
        restarted.refuse(optOut { $0.pushServices = ["wns"] }, of: ann)
        #expect(suppression(restarted, "ann", kept: kept) == .optedOut(.promotional), "a broken record opts nobody in")
        restarted.set(nil, of: ann)
        restarted.keep(nil, under: name.span.bytes)
        restarted.set(nil, of: ann)
        #expect(suppression(restarted, "ann", kept: kept) == nil)
    }

    @Test("knows 64 push services, and as many sources as a user names")
    func many() throws {
        let names = (0..<64).map { "service-\($0)" }
        let word = LastWord(hashSeed: 3, pushServices: try PushServices(names: names), maxLag: .seconds(5))
        let user = "ann".utf8.span.bytes
        for service in 0..<64 {
            word.set(optOut { $0.pushServices = [names[service]] }, of: user)
            for other in 0..<64 {
                let found = word.said(
                    identity: 1, user: ByteHash.hash(user, seed: 3), source: 0, campaign: 0, of: .transactional,
                    to: other)
                #expect((found == .suppressed(.optedOut(.pushService))) == (other == service))
            }
        }
        set("bob") { $0.sources = (0..<500).map { "source-\($0)" } }
        #expect(suppression("bob", source: "source-499") == .optedOut(.source))
        #expect(suppression("bob", source: "source-500") == nil)
    }

    @Test("keeps the former words while the topics are read again, and then has those alone that were read")
    func again() {
        set("ann") { $0.isOfAll = true }
        set("bob") { $0.isOfAll = true }
        word.recall(campaign: "c".utf8.span.bytes, true)
        word.noteCurrent(asOf: MonotonicTime(nanoseconds: 1))
        for _ in 0..<2 {
            word.beginAgain()
            set("bob") { $0.isOfAll = true }
            #expect(word.users == 2 && word.recalls == 1)
        }
        #expect(suppression("ann") == .optedOut(.all))
        word.beginAgain()
        set("bob") { $0.isOfAll = true }
        word.noteCurrent(asOf: MonotonicTime(nanoseconds: 2))
        #expect(suppression("ann") == nil && suppression("bob") == .optedOut(.all))
        #expect(word.users == 1 && word.recalls == 0)
    }

    @Test("is behind before it is current, and from more than preferences.maxLag on")
    func age() {
        let second: Int64 = 1_000_000_000
        func isBehind(_ seconds: Int64) -> Bool { word.isBehind(now: MonotonicTime(nanoseconds: seconds * second)) }
        #expect(isBehind(0) && word.currentAsOf == nil)
        word.noteCurrent(asOf: MonotonicTime(nanoseconds: 10 * second))
        #expect(!isBehind(15) && isBehind(16))
        #expect(word.currentAsOf == MonotonicTime(nanoseconds: 10 * second))
    }

    @Test("finds each of many words while it grows, and gives the retired memory back")
    func growth() {
        let table = WordTable()
        let empty = table.byteCount
        for hash in 0..<UInt64(200_000) { table.set(hash + 1, of: mixed(hash)) }
        #expect((0..<UInt64(200_000)).allSatisfy { table[mixed($0)] == $0 + 1 })
        #expect((200_000..<UInt64(400_000)).allSatisfy { table[mixed($0)] == 0 })
        #expect(table.count == 200_000)
        #expect(table.byteCount - empty < 200_000 * 16 * 8 / 5)
        for hash in 0..<UInt64(200_000) { table.set(0, of: mixed(hash)) }
        #expect(table.count == 0)
        // The places of words that are gone are used again.
        for hash in 0..<UInt64(400_000) where hash % 2 == 0 {
            table.set(1, of: mixed(hash))
            table.set(0, of: mixed(hash))
        }
        #expect(table.byteCount - empty < 200_000 * 16 * 8 / 5)
    }

    @Test("is read by others while it grows: a word that was set is never missed, and no word is another's")
    func readers() {
        let race = Race()
        let ended = DispatchSemaphore(value: 0)
        for reader in 0..<3 {
            Thread {
                race.read(from: UInt64(reader))
                ended.signal()
            }.start()
        }
        race.write()
        for _ in 0..<3 { ended.wait() }
        #expect(race.wrong.load(ordering: .relaxed) == 0)
        #expect(race.table.count == Int(Race.last))
    }

    /// One writer and its readers.
    private final class Race: Sendable {
        static let last: UInt64 = 60_000

        let table = WordTable()
        let written = Atomic<UInt64>(0)
        let wrong = Atomic<Int>(0)

        func write() {
            for number in 0..<Self.last {
                table.set((number + 1) << 1, of: mixed(number))
                written.store(number + 1, ordering: .releasing)
                table.set((number / 2 + 1) << 1 | 1, of: mixed(number / 2))
            }
        }

        func read(from first: UInt64) {
            var number = first
            while true {
                let known = written.load(ordering: .acquiring)
                number = mixed(number) % (Self.last + 1_000)
                let found = table[mixed(number)]
                if number < known && found == 0 || found != 0 && found >> 1 != number + 1 {
                    wrong.add(1, ordering: .relaxed)
                }
                if known == Self.last { return }
            }
        }
    }
}

/// SplitMix64's finisher.
private func mixed(_ number: UInt64) -> UInt64 {
    var bits = number &+ 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
}

import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Refused users, compared with others at the same moment")
struct UserContrastTests {
    /// Of a hundred calls in a tenth of a second, for some seconds: the number for users that were refused before, and
    /// the refused shares of these and the others.
    struct Load: Sendable, CustomTestStringConvertible {
        var known: Int
        var knownRefused: Double
        var othersRefused: Double
        var seconds = 3
        var testDescription: String {
            "\(known) of 100 known, \(knownRefused) of them refused, \(othersRefused) of others"
        }
    }

    private func contrast(_ load: Load) -> UserContrast {
        var contrast = UserContrast()
        for call in 0..<load.seconds * 1_000 {
            let isKnown = call % 100 < load.known
            let place = Double(call * 37 % 100) / 100
            let now = MonotonicTime(nanoseconds: 1_000_000_000 + Int64(call) * 1_000_000)
            contrast.count(
                isKnown: isKnown, refused: place < (isKnown ? load.knownRefused : load.othersRefused), now)
        }
        return contrast
    }

    @Test(
        "depend on the user when they are refused again while others get through",
        arguments: [
            Load(known: 5, knownRefused: 1, othersRefused: 0.33), Load(known: 30, knownRefused: 1, othersRefused: 0),
            Load(known: 2, knownRefused: 1, othersRefused: 0.1), Load(known: 50, knownRefused: 1, othersRefused: 0.6),
        ])
    func user(load: Load) {
        let contrast = contrast(load)
        #expect(contrast.dependsOnUser)
        #expect(!contrast.dependsOnRate)
        let share = contrast.shareOfOthers
        #expect(abs(share - load.othersRefused) < 0.05)
    }

    @Test(
        "depend on the rate when they get through as often as others",
        arguments: [
            Load(known: 20, knownRefused: 0.33, othersRefused: 0.33),
            Load(known: 40, knownRefused: 0.7, othersRefused: 0.7),
        ])
    func rate(load: Load) {
        let contrast = contrast(load)
        #expect(!contrast.dependsOnUser)
        #expect(contrast.dependsOnRate)
    }

    @Test(
        "show nothing when all are refused, none are, or only users in their first call",
        arguments: [
            Load(known: 50, knownRefused: 1, othersRefused: 1), Load(known: 50, knownRefused: 0, othersRefused: 0),
            Load(known: 0, knownRefused: 0, othersRefused: 0.3), Load(known: 20, knownRefused: 0, othersRefused: 0.3),
        ])
    func nothing(load: Load) {
        let contrast = contrast(load)
        #expect(!contrast.dependsOnUser)
        #expect(!contrast.dependsOnRate)
    }

    @Test("show nothing when a backend refuses all calls of one moment and none of the next")
    func moments() {
        var contrast = UserContrast()
        for call in 0..<5_000 {
            let now = MonotonicTime(nanoseconds: 1_000_000_000 + Int64(call) * 1_000_000)
            // A refused user returns in the same half of a second, in which all are refused.
            let isRefusing = call % 1_000 >= 500
            contrast.count(isKnown: isRefusing && call % 2 == 0, refused: isRefusing, now)
        }
        #expect(!contrast.dependsOnUser)
    }

    @Test("are remembered for a minute, by push service, until they get through")
    func remembered() {
        var users = RecentUsers(places: 8_192)
        let begin = MonotonicTime(nanoseconds: 30_000_000_000)
        #expect(users.isEmpty(now: begin))
        users.note(7, service: 0, now: begin)
        #expect(!users.isEmpty(now: begin))
        #expect(users.contains(7, service: 0, now: begin))
        #expect(users.contains(7, service: 0, now: begin.advanced(by: .minutes(1))))
        #expect(!users.contains(7, service: 1, now: begin))
        #expect(!users.contains(8, service: 0, now: begin))
        let late = begin.advanced(by: .minutes(2))
        #expect(!users.contains(7, service: 0, now: late))
        #expect(users.isEmpty(now: late))
        users.note(7, service: 0, now: late)
        users.forget(7, service: 0)
        #expect(!users.contains(7, service: 0, now: late))
    }

    @Test("rarely replace one another: of a thousand nearly all are known")
    func places() {
        var users = RecentUsers(places: 8_192)
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        for user in 0..<1_000 { users.note(UInt64(user), service: 0, now: now) }
        let known = (0..<1_000).count { users.contains(UInt64($0), service: 0, now: now) }
        #expect(known > 850)
        let mistaken = (1_000..<9_000).count { users.contains(UInt64($0), service: 0, now: now) }
        #expect(mistaken == 0)
    }
}

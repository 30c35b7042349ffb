import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@testable import HeraldTools

@Suite("Reading users' words out of their topic")
struct WordReadingTests {
    private static let written = WallTime(milliseconds: 1_800_000_000_000)

    private static func place(_ offset: Int64) -> LastWordContext.Place {
        LastWordContext.Place(partition: 0, offset: offset, at: written)
    }

    /// The word of ann after these records.
    private static func read(_ records: [(key: String, value: String?)], kept: KeptNames? = nil) -> WordReading {
        var reading = WordReading(of: ["ann"], kept: kept, pushServices: .standard)
        for (offset, record) in records.enumerated() {
            reading.take(
                key: Array(record.key.utf8), value: record.value.map { Array($0.utf8) }, at: place(Int64(offset)))
        }
        return reading
    }

    @Test("A word has the place and the time stamp of its record, and is said then unless it says when itself")
    func places() throws {
        let plain = try #require(Self.read([("bob", "{}"), ("ann", #"{"optOut":["all"]}"#)]).words["ann"])
        #expect(plain.place == Self.place(1) && plain.saidAt == Self.written && plain.fault == nil)
        let dated = #"{"optOut":[],"updatedAt":"2026-01-02T03:04:05Z"}"#
        #expect(Self.read([("ann", dated)]).words["ann"]?.saidAt == WallTime(milliseconds: 1_767_323_045_000))
        #expect(Self.read([("ann", dated), ("ann", nil)]).words.isEmpty)
    }

    @Test("A broken record keeps the former word, and who changes it is warned with its place")
    func broken() throws {
        let entry = try #require(
            Self.read([("ann", #"{"optOut":["pns:gcm"]}"#), ("ann", #"{"optOut":7}"#)]).words["ann"])
        #expect(entry.preference.optOut.words == "pns:gcm")
        let warning = try #require(entry.warning)
        #expect(warning.hasPrefix("the record at partition 0, offset 1, has an optOut that is"), "\(warning)")
        #expect(warning.contains("It counts as an opt-out of pns:gcm. What this change does not name"), "\(warning)")
        let first = try #require(Self.read([("ann", "no JSON")]).words["ann"])
        #expect(first.warning?.contains("It counts as an opt-out of promotional.") ?? false)
        let night = #"{"optOut":[],"quiet":{"zone":"UTC","start":"05:00","end":"06:00"}}"#
        for former in [#"{"optOut":[]}"#, night] {
            let word = try #require(Self.read([("ann", former), ("ann", "xx")]).words["ann"])
            #expect(word.preference.optOut.words == "promotional", "as workers count it")
            #expect((word.preference.quiet == nil) == (former != night))
        }
        #expect(Self.read([("ann", "no JSON"), ("ann", #"{"optOut":[]}"#)]).words["ann"]?.warning == nil)
    }

    @Test("Words of forgotten users that nobody can tell are counted while there is no secret")
    func hidden() throws {
        let kept = KeptNames(Secret("0123456789abcdef"))
        let key = String(decoding: kept.key(of: "ann".utf8.span.bytes), as: UTF8.self)
        let optOut = #"{"optOut":["all"]}"#
        #expect(Self.read([(key, optOut)]).hiddenCount == 1)
        #expect(Self.read([(key, optOut), (key, optOut)]).hiddenCount == 1)
        #expect(Self.read([(key, optOut), (key, nil)]).hiddenCount == 0)
        let known = Self.read([(key, optOut)], kept: kept)
        #expect(known.hiddenCount == 0 && known.words["ann"]?.isKept == true)
    }

    @Test("Many users' words are found, with what is kept of the forgotten, and count as workers have them")
    func many() {
        let secret = KeptNames(Secret("0123456789abcdef"))
        func words(_ kept: KeptNames?, _ records: [(key: String, value: String?)]) -> ManyWords {
            var users = UserHashes(kept: kept)
            for user in ["ann", "bob"] { users.insert(user) }
            var words = ManyWords(of: users, pushServices: .standard)
            for record in records {
                words.take(key: Array(record.key.utf8), value: record.value.map { Array($0.utf8) })
            }
            return words
        }
        let key = String(decoding: secret.key(of: "ann".utf8.span.bytes), as: UTF8.self)
        let forgotten = [(key, #"{"optOut":["pns:gcm"]}"#), ("ann", nil), ("eve", #"{"optOut":["all"]}"#)]
        let found = words(secret, forgotten)
        #expect(found["ann"]?.word.optOut.words == "pns:gcm" && found["ann"]?.isKept == true)
        #expect(found["bob"] == nil && found["eve"] == nil)
        #expect(words(nil, forgotten)["ann"] == nil)
        let broken = words(secret, forgotten + [("ann", "xx"), ("bob", #"{"optOut":[]}"#), ("bob", "xx")])
        #expect(broken["ann"]?.word.optOut.words == "pns:gcm" && broken["ann"]?.isKept == false)
        #expect(broken["bob"]?.word.optOut.words == "promotional")
        #expect(words(secret, forgotten + [(key, nil)])["ann"] == nil)
    }

    @Test("Forgetting a user says what is kept")
    func kept() {
        func said(_ former: LastWordContext.Entry?) -> String { LastWordContext.Entry.kept(former) }
        var optOut = OptOut()
        optOut.isOfPromotional = true
        #expect(said(nil) == "there is no word of this user, so that nothing is kept")
        #expect(said(.init(preference: Preference(OptOut()))).contains("opted out of nothing"))
        #expect(said(.init(preference: Preference(optOut))) == "the opt-out is kept without the name")
        #expect(said(.init(preference: Preference(optOut), isKept: true)).contains("was so before"))
    }

    @Test("The withdrawal of a recall says whose it was, and how many may be called again")
    func withdrawal() {
        let recall = Recall(at: Self.written, by: "ops", reason: "wrong price")
        let text = recall.withdrawal(of: .campaign("spring"), left: 2)
        let since = RFC3339.text(Self.written)
        #expect(text.hasPrefix("campaign spring: the recall by ops since \(since): wrong price, is withdrawn: 2 "))
        #expect(Recall().withdrawal(of: .campaign("x"), left: 0).contains("withdrawn: nothing of it is left"))
        #expect(Recall().withdrawal(of: .campaign("x"), left: nil).contains(": what has no outcome yet may be"))
    }
}

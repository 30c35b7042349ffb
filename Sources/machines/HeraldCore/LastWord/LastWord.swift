public import HeraldEvents
public import HeraldTime
import Synchronization

/// What users have said last, and what was recalled: one table for all lanes of a process.
///
/// One thread, the follower of the two topics, writes it; lanes read it without a lock, immediately before each call. A
/// word counts from the return of the method that applies it on: no later look of a lane misses it.
///
/// A user is known by a keyed hash of 64 bits: among ten million users with an opt-out, one of another ten million is
/// taken for one of them with a chance of 10⁻⁵.
public final class LastWord: Sendable {
    let seed: UInt64
    let names: PushServices
    private let maxLag: Milliseconds
    let rules: QuietRules
    /// That of ``rules``: to read it there would count references.
    private let spread: UInt64
    private let keptName: (@Sendable (_ user: RawSpan) -> [UInt8])?
    private let keepsWords = Atomic(false)
    private let words = WordTable()
    private let recalled = WordTable()
    private let remainders = Interned<Remainder>()
    private let sayings = Interned<String>()
    /// In nanoseconds of the monotonic clock.
    private let current = Atomic(Int64.min)
    /// That of ``preferencesOffset``; -1 without one.
    private let offset = Atomic(Int64(-1))

    // The follower's thread alone.
    /// Alternates each time that the topics are read again.
    private nonisolated(unsafe) var generation: UInt64 = 0
    private nonisolated(unsafe) var isReadingAgain = false

    /// A table in which nobody has said anything, and which is not current.
    ///
    /// - Parameters:
    ///   - hashSeed: The process's own, as ``EngineConfiguration/hashSeed``.
    ///   - pushServices: Those of the engines' decoder; a word about another one is kept, and concerns nobody.
    ///   - maxLag: The age of the table from which promotional events wait.
    ///   - rules: How quiet hours are read.
    ///   - keptName: The name under which the opt-out of a forgotten user is kept; `nil` when nothing is.
    public init(
        hashSeed: UInt64, pushServices: PushServices, maxLag: Milliseconds, rules: QuietRules = QuietRules(),
        keptName: (@Sendable (_ user: RawSpan) -> [UInt8])? = nil
    ) {
        self.rules = rules
        spread = UInt64(max(0, rules.spread.count))
        self.keptName = keptName
        seed = hashSeed
        names = pushServices
        self.maxLag = maxLag
    }

    // MARK: The follower's thread alone

    /// Sets a user's word; `nil` forgets it, with the quiet hours, and then what is kept of it counts.
    public func set(_ optOut: OptOut?, quiet: QuietHours? = nil, of user: RawSpan) {
        let word = optOut.map { packed(parts($0, quiet)) } ?? 0
        // Who comes back and wants everything has said so: what is kept does not count against it.
        let kept = word == 0 ? keptWord(of: user) : 0
        let present = kept == 0 ? word : (optOut == nil ? kept & ~Word.generation : Word.isThere) | generation
        words.set(present, of: ByteHash.hash(user, seed: seed))
    }

    /// Sets what is kept of a forgotten user's word, by its name.
    public func keep(_ optOut: OptOut?, under name: RawSpan) {
        keepsWords.store(true, ordering: .releasing)
        words.set(optOut.map { packed(parts($0, nil)) } ?? 0, of: ByteHash.hash(name, seed: seed))
    }

    private func keptWord(of user: RawSpan) -> UInt64 {
        guard let keptName, keepsWords.load(ordering: .relaxed) else { return 0 }
        let name = keptName(user)
        return words[ByteHash.hash(name.span.bytes, seed: seed)]
    }

    /// Takes a record that is broken: what was understood of it is added to the user's former word.
    ///
    /// Without a former opt-out nothing promotional is sent to the user. Quiet hours stay as they were.
    public func refuse(_ understood: OptOut, of user: RawSpan) {
        let hash = ByteHash.hash(user, seed: seed)
        let own = words[hash]
        let former = Word(rawValue: own == 0 ? keptWord(of: user) : own)
        var parts = parts(understood, nil)
        var before = Parts(
            flags: former.rawValue & (Word.all | Word.promotional), pushServices: former.pushServices(remainders),
            sources: Set(former.sources(remainders)))
        if before.isEmpty { before.flags = Word.promotional }
        parts.flags |= before.flags
        parts.pushServices = parts.pushServices.union(before.pushServices)
        parts.sources.formUnion(before.sources)
        parts.quiet = former.quiet(remainders)
        words.set(packed(parts), of: hash)
    }

    /// Recalls an event, or withdraws that.
    ///
    /// - Parameters:
    ///   - source: Absent for an event without one.
    ///   - words: By whom and why, for the result's detail: `ops: wrong price`.
    public func recall(id: RawSpan, source: RawSpan?, user: RawSpan, _ isRecalled: Bool, words: String = "") {
        let ofSource: UInt64 = if let source { ByteHash.hash(source, seed: seed) } else { 0 }
        let hash = Self.identity(id: id, source: ofSource, user: ByteHash.hash(user, seed: seed), seed: seed)
        setRecall(of: hash, isRecalled, words)
    }

    /// Recalls a campaign's events, or withdraws that.
    ///
    /// - Parameter words: By whom and why, for the result's detail: `ops: wrong price`.
    public func recall(campaign: RawSpan, _ isRecalled: Bool, words: String = "") {
        setRecall(of: Campaigns.hash(campaign, seed: seed), isRecalled, words)
    }

    /// Notes that each record of the preferences before an offset is applied; `nil` when one offset does not say that,
    /// because they lie in several partitions.
    public func notePreferences(before offset: Int64?) {
        self.offset.store(offset ?? -1, ordering: .releasing)
    }

    /// Notes that everything that was committed at a moment is applied.
    public func noteCurrent(asOf moment: MonotonicTime) {
        if isReadingAgain {
            isReadingAgain = false
            for table in [words, recalled] {
                table.replaceAll { $0 & Word.generation == generation ? $0 : 0 }
            }
        }
        current.store(moment.nanoseconds, ordering: .releasing)
    }

    /// Notes that both topics are read again from their beginning: one of them was made anew.
    ///
    /// The former words stay until the next ``noteCurrent(asOf:)``; then those go that were not read again.
    public func beginAgain() {
        generation ^= Word.generation
        isReadingAgain = true
    }

    // MARK: Any thread

    /// The users who have opted out of something, or have quiet hours.
    public var users: Int { words.count }

    /// Whether a user has opted out of something, or has quiet hours.
    public func hasOptedOut(_ user: RawSpan) -> Bool { words[ByteHash.hash(user, seed: seed)] != 0 }

    /// The events and campaigns that are recalled.
    public var recalls: Int { recalled.count }

    /// The bytes of both tables.
    public var bytes: Int { words.byteCount + recalled.byteCount }

    /// The moment as of which everything is applied; `nil` before the topics are read to their ends.
    public var currentAsOf: MonotonicTime? {
        let nanoseconds = current.load(ordering: .acquiring)
        return nanoseconds == .min ? nil : MonotonicTime(nanoseconds: nanoseconds)
    }

    /// The offset before which each record of the preferences is applied; `nil` before they are read, and when they lie in
    /// several partitions.
    ///
    /// A word that is looked up after it is at least as young.
    public var preferencesOffset: Int64? {
        let offset = offset.load(ordering: .acquiring)
        return offset < 0 ? nil : offset
    }

    /// Whether it is not known to be young enough for promotional events.
    public func isBehind(now: MonotonicTime) -> Bool {
        let nanoseconds = current.load(ordering: .acquiring)
        return nanoseconds == .min || now.time(since: MonotonicTime(nanoseconds: nanoseconds)) > maxLag
    }
}

// MARK: - Lanes

extension LastWord {
    /// The hash of an event's identity, from the hashes of its source (0 without one) and its user.
    static func identity(id: RawSpan, source: UInt64, user: UInt64, seed: UInt64) -> UInt64 {
        DuplicateIdentity.hash(source: source, id: id, user: user, partition: 0, seed: seed)
    }

    /// Why an event is not to be called on a push service, or not at any time; `nil` when nobody has said so.
    ///
    /// - Parameters:
    ///   - identity: That of ``identity(id:source:user:seed:)``.
    ///   - source: The hash of its source; 0 without one.
    ///   - campaign: The hash of its campaign; 0 without one.
    func said(
        identity: UInt64, user: UInt64, source: UInt64, campaign: UInt64, of eventClass: EventClass, to service: Int
    ) -> Said? {
        if let saying = recall(identity) ?? (campaign == 0 ? nil : recall(campaign)) {
            return .suppressed(.recalled(saying))
        }
        let word = Word(rawValue: words[user])
        if word.rawValue == 0 { return nil }
        if word.isOfAll { return .suppressed(.optedOut(.all)) }
        if eventClass == .promotional, word.isOfPromotional { return .suppressed(.optedOut(.promotional)) }
        if word.pushServices(remainders).contains(service) { return .suppressed(.optedOut(.pushService)) }
        guard eventClass == .promotional else { return nil }
        if source != 0, word.sources(remainders).contains(source) { return .suppressed(.optedOut(.source)) }
        return word.quiet(remainders).map { .quiet($0) }
    }

    /// What was said about a call.
    enum Said: Equatable, Sendable {
        /// It is not to be made.
        case suppressed(Suppression)
        /// It is not to be made in these hours.
        case quiet(QuietWindow)
    }

    /// The time after the end of quiet hours after which a user's events leave, the same in each process.
    @inline(__always)
    func quietShift(of user: RawSpan) -> Milliseconds {
        spread == 0 ? .zero : Milliseconds(count: Int64(ByteHash.hash(user, seed: 0) % spread))
    }

    /// Whether a record that outlived its user's erasure counts for events of that user.
    public var findsKeptWords: Bool { keptName != nil }

    /// The hash by which the kept word of a user is found; 0 while nothing is kept.
    func keptHash(of user: RawSpan) -> UInt64 {
        guard let keptName else { return 0 }
        // Before the topics are read it is not known whether anything is.
        guard keepsWords.load(ordering: .acquiring) || currentAsOf == nil else { return 0 }
        let name = keptName(user)
        return ByteHash.hash(name.span.bytes, seed: seed)
    }

    /// The hash by which a user's word is found: the user's own, and without a word of that what was kept.
    @inline(__always)
    func wordHash(user: UInt64, kept: UInt64) -> UInt64 { kept != 0 && words[user] == 0 ? kept : user }

    private func recall(_ hash: UInt64) -> UInt32? {
        let word = recalled[hash]
        return word == 0 ? nil : Word(rawValue: word).number
    }

    /// By whom and why something was recalled; empty when that was not said.
    func saying(_ number: UInt32) -> String { number == 0 ? "" : sayings[number] }
}

// MARK: - Words

extension LastWord {
    /// What a word has no bits for.
    private struct Remainder: Hashable, Sendable {
        var pushServices = PushServiceSet()
        /// The hashes of sources, from the smallest on.
        var sources: [UInt64] = []
        var quiet: QuietWindow?
    }

    /// A user's word, or a recall, as a table has it.
    private struct Word {
        var rawValue: UInt64

        /// Set for what is there, so that a word is not 0.
        static let isThere: UInt64 = 1
        static let all: UInt64 = 2
        static let promotional: UInt64 = 4
        /// Which of two readings it comes from.
        static let generation: UInt64 = 8
        /// The place of the first push service's bit, and how many have one.
        static let firstService: UInt64 = 4
        static let services = 28
        /// The place of the number of the remainder, or of a recall's saying.
        static let firstOfNumber: UInt64 = 32

        var isOfAll: Bool { rawValue & Self.all != 0 }
        var isOfPromotional: Bool { rawValue & Self.promotional != 0 }
        var number: UInt32 { UInt32(rawValue >> Self.firstOfNumber) }

        private var plainServices: PushServiceSet {
            PushServiceSet(rawValue: rawValue >> Self.firstService & (1 << UInt64(Self.services) - 1))
        }

        func pushServices(_ remainders: Interned<Remainder>) -> PushServiceSet {
            number == 0 ? plainServices : plainServices.union(remainders[number].pushServices)
        }

        func sources(_ remainders: Interned<Remainder>) -> [UInt64] {
            number == 0 ? [] : remainders[number].sources
        }

        func quiet(_ remainders: Interned<Remainder>) -> QuietWindow? {
            number == 0 ? nil : remainders[number].quiet
        }
    }

    /// A word before it is packed.
    private struct Parts {
        var flags: UInt64
        var pushServices: PushServiceSet
        var sources: Set<UInt64>
        var quiet: QuietWindow?

        var isEmpty: Bool { flags == 0 && pushServices.isEmpty && sources.isEmpty && quiet == nil }
    }

    private func parts(_ optOut: OptOut, _ quiet: QuietHours?) -> Parts {
        var parts = Parts(
            flags: (optOut.isOfAll ? Word.all : 0) | (optOut.isOfPromotional ? Word.promotional : 0),
            pushServices: PushServiceSet(), sources: [], quiet: quiet.map { QuietWindow($0, rules) })
        for name in optOut.pushServices {
            if let index = names.index(of: name.utf8.span.bytes) { parts.pushServices.insert(index) }
        }
        for source in optOut.sources { parts.sources.insert(ByteHash.hash(source.utf8.span.bytes, seed: seed)) }
        return parts
    }

    private func packed(_ parts: Parts) -> UInt64 {
        if parts.isEmpty { return 0 }
        let plain = parts.pushServices.intersection(PushServiceSet(rawValue: 1 << UInt64(Word.services) - 1))
        let remainder = Remainder(
            pushServices: parts.pushServices.subtracting(plain), sources: parts.sources.sorted(), quiet: parts.quiet)
        let number = remainder == Remainder() ? 0 : remainders.number(of: remainder)
        return Word.isThere | parts.flags | generation | plain.rawValue << Word.firstService
            | UInt64(number) << Word.firstOfNumber
    }

    private func setRecall(of hash: UInt64, _ isRecalled: Bool, _ words: String) {
        let number = isRecalled && !words.isEmpty ? sayings.number(of: words) : 0
        recalled.set(
            isRecalled ? Word.isThere | generation | UInt64(number) << Word.firstOfNumber : 0, of: hash)
    }
}

import HeraldTime
import Testing

@testable import HeraldHTTP

@Suite("The addresses of a name")
struct AddressCacheTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// A cache with its clock, which begins at 0.
    private final class Book {
        private var book: AddressCache

        init(_ addresses: String...) {
            book = AddressCache()
            if !addresses.isEmpty { book.lookedUp(addresses, now: start) }
        }

        init(fixed address: String) {
            book = AddressCache(fixed: address)
        }

        var isEmpty: Bool { book.isEmpty }

        private func moment(_ milliseconds: Int64) -> MonotonicTime { start.advanced(by: .milliseconds(milliseconds)) }

        func wantsLookUp(after milliseconds: Int64) -> Bool { book.wantsLookUp(moment(milliseconds)) }
        func lookedUp(_ addresses: String...) { book.lookedUp(addresses, now: start) }
        func lookUpFailed(isGone: Bool, after milliseconds: Int64) {
            book.lookUpFailed(isGone: isGone, now: moment(milliseconds))
        }

        /// The address for the next connection.
        func choose(after milliseconds: Int64 = 0, entropy: UInt64 = 0) -> (number: AddressCache.Number, text: String)?
        {
            guard case .address(let number, let text) = book.choose(moment(milliseconds), entropy: entropy) else {
                return nil
            }
            return (number, text)
        }

        func connected(_ number: AddressCache.Number) { book.connected(number) }
        func released(_ number: AddressCache.Number) { book.released(number) }
        func failed(_ number: AddressCache.Number, after milliseconds: Int64 = 0, entropy: UInt64) -> Bool {
            book.failed(number, now: moment(milliseconds), entropy: entropy)
        }
    }

    @Test("When every address refuses, one more attempt precedes a call's failure, and again after a connection")
    func refusedEverywhere() throws {
        var book = AddressCache(fixed: "127.0.0.1")
        let tries = (0..<3).map { _ in book.allowsAnotherTry() }
        #expect(tries == [true, false, true])
        guard case .address(let number, _) = book.choose(MonotonicTime(nanoseconds: 0), entropy: 0) else {
            Issue.record("no address")
            return
        }
        book.connected(number)
        let isTriedAgain = book.allowsAnotherTry()
        #expect(isTriedAgain)
    }

    @Test("Connections spread evenly, wherever they begin", arguments: 0..<5 as Range<UInt64>)
    func spread(entropy: UInt64) throws {
        let book = Book("a", "b", "[::1]")
        var counts: [String: Int] = [:]
        for _ in 1...30 { counts[try #require(book.choose(entropy: entropy)).text, default: 0] += 1 }
        #expect(counts == ["a": 10, "b": 10, "[::1]": 10])
    }

    @Test("A connection that ends makes room at its address")
    func released() throws {
        let book = Book("a", "b")
        let chosen = try (0..<4).map { _ in try #require(book.choose()) }
        for connection in chosen where connection.text == "b" { book.released(connection.number) }
        let next = [book.choose()?.text, book.choose()?.text]
        #expect(next == ["b", "b"])
    }

    @Test("An address that refuses connections is skipped, for longer each time, until it accepts one")
    func skipped() throws {
        let book = Book("a", "b")
        let first = try #require(book.choose())
        #expect(first.text == "a")
        #expect(book.failed(first.number, entropy: .max))
        book.released(first.number)
        for _ in 1...5 { #expect(book.choose()?.text == "b") }
        // A whole second at most, the first time; two after that.
        #expect(book.choose(after: 1_000)?.text == "a")
        #expect(book.failed(first.number, after: 1_000, entropy: 1_000))
        #expect(book.choose(after: 2_999)?.text == "b")
        #expect(book.choose(after: 3_000)?.text == "a")
        book.connected(first.number)
        #expect(book.failed(first.number, after: 1_000, entropy: 500))
        #expect(book.choose(after: 2_000)?.text == "a")
    }

    @Test("A crowd that fails at one address counts once")
    func crowd() throws {
        let book = Book("a", "b")
        let chosen = try (0..<40).map { _ in try #require(book.choose()) }
        for connection in chosen where connection.text == "a" {
            book.released(connection.number)
            #expect(book.failed(connection.number, entropy: 500))
        }
        #expect(book.choose(after: 1_000)?.text == "a")
    }

    @Test("When all are skipped, the one whose time ends first is tried, and none follows it")
    func allSkipped() throws {
        let book = Book("a", "b")
        let first = try #require(book.choose())
        let second = try #require(book.choose())
        #expect(book.failed(first.number, entropy: 400))
        #expect(!book.failed(second.number, entropy: 0))
        #expect(book.choose()?.text == second.text)
        #expect(!book.failed(second.number, entropy: 0))
    }

    @Test("A name is looked up first, again after half a minute, and waited for after five minutes only")
    func freshness() {
        let book = Book()
        #expect(book.wantsLookUp(after: 0) && book.choose() == nil)
        book.lookedUp("a")
        #expect(!book.wantsLookUp(after: 29_999))
        #expect(book.wantsLookUp(after: 30_000))
        #expect(book.choose(after: 299_999)?.text == "a")
        #expect(book.choose(after: 300_000) == nil)
    }

    @Test("A broken resolver changes nothing, a removed name is gone, and neither is looked up constantly")
    func failures() {
        let book = Book("a")
        book.lookUpFailed(isGone: false, after: 400_000)
        #expect(book.choose(after: 400_000)?.text == "a")
        #expect(!book.wantsLookUp(after: 400_999))
        #expect(book.wantsLookUp(after: 401_000))
        book.lookUpFailed(isGone: true, after: 400_000)
        #expect(book.isEmpty && book.choose(after: 400_000) == nil)
        #expect(!book.wantsLookUp(after: 400_999))
    }

    @Test("A name that moved is followed, and the state of a remaining address is kept")
    func moved() throws {
        let book = Book("a", "b")
        let first = try #require(book.choose())
        #expect(book.failed(first.number, entropy: 1_000))
        book.lookedUp("c", "a")
        book.released(first.number)
        #expect(book.choose()?.text == "c" && book.choose()?.text == "c")
        book.lookedUp("d")
        #expect(book.choose()?.text == "d")
        // A removed address has no state, and late reports about it are ignored.
        book.released(first.number)
        book.connected(first.number)
    }

    @Test("An address needs no look-up")
    func fixed() {
        let book = Book(fixed: "192.0.2.1")
        #expect(!book.wantsLookUp(after: 0))
        #expect(book.choose(after: 1_000_000_000)?.text == "192.0.2.1")
    }

    @Test(
        "An address is distinguished from a name",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("localhost", nil), ("backend.example.org", nil),
            ("1.2.3", nil),
        ] as [(String, String?)])
    func literals(host: String, text: String?) {
        #expect(NameResolver.literal(host) == text)
    }

    @Test("The system resolves this machine's name, and no unknown host")
    func system() {
        guard case .addresses(let addresses) = NameResolver.lookUp("localhost") else {
            Issue.record("localhost has no address")
            return
        }
        #expect(!addresses.isEmpty && addresses.allSatisfy { $0 == "127.0.0.1" || $0 == "[::1]" })
        guard case .failed = NameResolver.lookUp("no-such-host.invalid") else {
            Issue.record("no-such-host.invalid has an address")
            return
        }
    }
}

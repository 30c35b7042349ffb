import Foundation
import HeraldThreads
import HeraldTools
import TestSupport
import Testing

@testable import HeraldConsole

@Suite("Uploads")
struct UploadStoreTests {
    private final class Clock: Sendable {
        private let begin = ContinuousClock.now
        private let passed = Guarded(Duration.zero)

        var now: ContinuousClock.Instant { begin + passed.withLock { $0 } }

        func advance(_ duration: Duration) { passed.withLock { $0 += duration } }
    }

    private static let limits: UploadStore.Limits = {
        var limits = UploadStore.Limits()
        limits.bytes = 100
        limits.pieceBytes = 10
        return limits
    }()

    private func store(_ clock: Clock = Clock(), in directory: String = NSTemporaryDirectory()) -> UploadStore {
        UploadStore(in: directory, limits: Self.limits, now: { clock.now })
    }

    private func status(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as? Refused)?.status
        }
    }

    private func content(_ file: SpooledFile) throws -> String {
        var bytes = [UInt8](repeating: 0, count: file.byteCount)
        var position = 0
        while position < bytes.count {
            position += try file.read(into: &bytes, at: position, count: bytes.count - position, from: position)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Pieces make the file, and a repeated one is ignored")
    func pieces() throws {
        let store = store()
        let key = try store.declare(name: "users.csv", byteCount: 12, owner: "ann")
        #expect(try store.append(Array("user\nann\n".utf8), at: 0, to: key, owner: "ann") == 9)
        #expect(status { _ = try store.file(key, owner: "ann") } == 409)
        // The answer to the first was lost.
        #expect(try store.append(Array("user\nann\n".utf8), at: 0, to: key, owner: "ann") == 9)
        #expect(try store.append(Array("ben".utf8), at: 9, to: key, owner: "ann") == 12)
        let (file, name) = try store.file(key, owner: "ann")
        #expect(try content(file) == "user\nann\nben" && name == "users.csv")
        // A reader goes on after the file is discarded.
        store.discard(key, owner: "ann")
        #expect(store.count == 0)
        #expect(try content(file) == "user\nann\nben" && file.isUnchanged)
        #expect(status { _ = try store.append([1], at: 0, to: key, owner: "ann") } == 404)
    }

    @Test("Pieces out of order, too large, or beyond the declared size are refused and change nothing")
    func refusals() throws {
        let store = store()
        let key = try store.declare(name: "users.csv", byteCount: 15, owner: "ann")
        _ = try store.append(Array("0123456789".utf8), at: 0, to: key, owner: "ann")
        #expect(status { _ = try store.append([1], at: 11, to: key, owner: "ann") } == 409)
        #expect(status { _ = try store.append([1, 2], at: 9, to: key, owner: "ann") } == 409)
        #expect(status { _ = try store.append([1], at: -1, to: key, owner: "ann") } == 409)
        #expect(status { _ = try store.append([1], at: .max, to: key, owner: "ann") } == 409)
        #expect(status { _ = try store.append(Array(repeating: 1, count: 11), at: 10, to: key, owner: "ann") } == 413)
        #expect(status { _ = try store.append(Array(repeating: 1, count: 6), at: 10, to: key, owner: "ann") } == 409)
        #expect(try store.append(Array("abcde".utf8), at: 10, to: key, owner: "ann") == 15)
        #expect(try content(store.file(key, owner: "ann").file) == "0123456789abcde")
        for owner in ["ben", ""] {
            #expect(status { _ = try store.append([1], at: 15, to: key, owner: owner) } == 404)
            #expect(status { _ = try store.file(key, owner: owner) } == 404)
            store.discard(key, owner: owner)
        }
        #expect(store.count == 1)
    }

    @Test("A file that is too large or empty is refused before a byte of it is kept")
    func tooLarge() throws {
        let store = store()
        #expect(status { _ = try store.declare(name: "a", byteCount: 101, owner: "ann") } == 413)
        #expect(status { _ = try store.declare(name: "a", byteCount: .max, owner: "ann") } == 413)
        #expect(status { _ = try store.declare(name: "a", byteCount: 0, owner: "ann") } == 400)
        #expect(status { _ = try store.declare(name: "a", byteCount: -5, owner: "ann") } == 400)
        #expect(store.count == 0)
        #expect(throws: ToolFailure.self) {
            try self.store(in: "/nowhere").declare(name: "a", byteCount: 1, owner: "ann")
        }
    }

    @Test("Few files are kept: unused ones make room, and after an hour all are forgotten")
    func bounded() throws {
        let clock = Clock()
        let store = store(clock)
        let keys = try (0..<4).map { try store.declare(name: "\($0)", byteCount: 2, owner: "ann") }
        #expect(status { _ = try store.declare(name: "fifth", byteCount: 1, owner: "ben") } == 429)
        clock.advance(.seconds(61))
        for key in keys.dropFirst() { _ = try store.append([1, 2], at: 0, to: key, owner: "ann") }
        let fifth = try store.declare(name: "fifth", byteCount: 1, owner: "ben")
        #expect(status { _ = try store.append([1], at: 0, to: keys[0], owner: "ann") } == 404)
        #expect(status { _ = try store.declare(name: "sixth", byteCount: 1, owner: "carl") } == 429)
        // Even a complete one after a minute without use: a preview's reader has the file open.
        clock.advance(.seconds(61))
        _ = try store.append([1], at: 0, to: fifth, owner: "ben")
        _ = try store.declare(name: "sixth", byteCount: 1, owner: "carl")
        #expect(store.count == 4)
        clock.advance(.seconds(3_599))
        _ = try store.file(fifth, owner: "ben")
        clock.advance(.seconds(2))
        store.sweep()
        #expect(store.count == 1)
        clock.advance(.seconds(3_600))
        store.sweep()
        #expect(store.count == 0)
    }

    @Test("A viewer's own files never lock them out: the oldest makes room at once")
    func ownFiles() throws {
        let clock = Clock()
        let store = store(clock)
        var keys: [String] = []
        for number in 0..<6 {
            keys.append(try store.declare(name: "\(number)", byteCount: 1, owner: "ann"))
            _ = try store.append([1], at: 0, to: keys[number], owner: "ann")
            clock.advance(.seconds(1))
        }
        #expect(keys.map { key in status { _ = try store.file(key, owner: "ann") } } == [404, 404, nil, nil, nil, nil])
    }

    @Test("No file has a name that others could open")
    func nameless() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "uploads-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = store(in: directory)
        let key = try store.declare(name: "../../etc/passwd", byteCount: 3, owner: "ann")
        _ = try store.append([1, 2, 3], at: 0, to: key, owner: "ann")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
}

import Foundation
import Glibc
import HeraldCore
import HeraldKafka
import HeraldThreads
import HeraldTime
import HeraldWorker
import Testing

@testable import HeraldAdmin

@Suite("The messages to the service manager")
struct ServiceManagerTests {
    private static let now = Reports.now

    private static func later(_ milliseconds: Int64) -> MonotonicTime { now.advanced(by: .milliseconds(milliseconds)) }

    /// A worker whose lanes turned at this moment.
    private static func alive(
        at moment: MonotonicTime, _ change: (inout WorkerReport) -> Void = { _ in }
    ) -> WorkerReport {
        Reports.ready { report in
            report.lanes[0].at = moment
            change(&report)
        }
    }

    @Test("The worker is ready once the lanes consume, says so once, and reports later changes")
    func ready() {
        var news = ServiceNews(watchdog: nil)
        let starting = news.lines(for: Reports.ready { $0.lanes = [] }, now: Self.now)
        #expect(starting.count == 1 && starting[0].hasPrefix("STATUS=The worker is starting"))
        #expect(news.lines(for: Reports.ready { $0.lanes[0].isReady = false }, now: Self.now) == [])
        #expect(news.lines(for: Reports.ready(), now: Self.now) == ["READY=1", "STATUS=Delivering"])
        #expect(news.lines(for: Reports.ready(), now: Self.now) == [])
        let unassigned = news.lines(for: Reports.ready { $0.lanes[0].phase = .unassigned }, now: Self.now)
        #expect(unassigned.count == 1 && unassigned[0].hasPrefix("STATUS=The group has given out no partitions"))
        #expect(news.lines(for: Reports.ready(), now: Self.now) == ["STATUS=Delivering"])
    }

    @Test("Brokers that do not answer cause no restart: the worker is ready, and names the obstacle")
    func brokersDown() {
        var news = ServiceNews(watchdog: nil)
        let report = Reports.ready { report in
            report.lanes = []
            report.cluster.isReachable = false
            report.cluster.error = KafkaError(code: KafkaError.Code.transport, message: "gone\nfor good")
        }
        let lines = news.lines(for: report, now: Self.now)
        #expect(lines.count == 2 && lines[0] == "READY=1")
        #expect(
            lines[1].hasPrefix("STATUS=No broker answers (gone for good)"), "each line is an assignment")
    }

    @Test("A reload of settings is reported, in the manager's clock, only between readiness and stop")
    func reloading() {
        var news = ServiceNews(watchdog: nil)
        #expect(news.linesBeforeReload(now: Self.now).isEmpty && news.linesAfterReload.isEmpty)
        _ = news.lines(for: Reports.ready(), now: Self.now)
        let moment = MonotonicTime(nanoseconds: 1_234_567_890)
        #expect(news.linesBeforeReload(now: moment) == ["RELOADING=1", "MONOTONIC_USEC=1234567"])
        #expect(news.linesAfterReload == ["READY=1"])
        _ = news.lines(for: Reports.ready { $0.isStopping = true }, now: Self.now)
        #expect(news.linesBeforeReload(now: moment).isEmpty && news.linesAfterReload.isEmpty)
    }

    @Test("A stop is reported once, even if the worker was never ready")
    func stopping() {
        var news = ServiceNews(watchdog: nil)
        let report = Reports.ready { report in
            report.lanes = []
            report.isStopping = true
        }
        let lines = news.lines(for: report, now: Self.now)
        #expect(lines.count == 2 && lines[0] == "STOPPING=1")
        #expect(lines[1].hasPrefix("STATUS=The worker was told to stop"))
        #expect(news.lines(for: report, now: Self.now) == [])
    }

    @Test("A sign of life comes twice in each interval, and not while a lane's loop stands still")
    func watchdog() {
        var news = ServiceNews(watchdog: .seconds(60))
        func isAlive(after milliseconds: Int64, lastTurn: Int64? = nil) -> Bool {
            let report = Self.alive(at: Self.later(lastTurn ?? milliseconds))
            return news.lines(for: report, now: Self.later(milliseconds)).contains("WATCHDOG=1")
        }
        #expect(isAlive(after: 0))
        #expect(!isAlive(after: 29_000))
        #expect(isAlive(after: 30_000))
        #expect(!isAlive(after: 60_001, lastTurn: 30_000), "the lane has not turned for more than 30 s")
        #expect(!isAlive(after: 95_000, lastTurn: 30_000))
        #expect(isAlive(after: 96_000), "it turns again")
        #expect(ServiceNews(watchdog: .milliseconds(200)).pause == .milliseconds(50))
        #expect(ServiceNews(watchdog: .seconds(60)).pause == .seconds(1))
        #expect(ServiceNews(watchdog: nil).pause == .seconds(1))
    }

    @Test("A watchdog applies to this process only, and needs a valid time")
    func watchdogSettings() {
        func interval(_ microseconds: String?, _ process: String? = nil) -> Duration? {
            ServiceManager.watchdog(
                ["WATCHDOG_USEC": microseconds, "WATCHDOG_PID": process].compactMapValues(\.self), process: 17)
        }
        #expect(interval("60000000") == .seconds(60) && interval("60000000", "17") == .seconds(60))
        #expect(interval("60000000", "18") == nil && interval(nil) == nil)
        #expect(interval("0") == nil && interval("soon") == nil)
    }

    @Test("A message is one datagram to the socket, a path or an abstract name", arguments: [true, false])
    func datagram(isAbstract: Bool) throws {
        let name = UUID().uuidString
        let path = isAbstract ? "@herald-\(name)" : NSTemporaryDirectory() + "herald-\(name)"
        let receiver = try DatagramReceiver(path)
        defer { receiver.close() }
        let socket = try NotifySocket(path)
        #expect(socket.send(["READY=1", "STATUS=Delivering"]))
        #expect(receiver.receive() == "READY=1\nSTATUS=Delivering")
    }

    @Test("A socket without a listener accepts nothing; an invalid socket name is refused")
    func badSockets() throws {
        #expect(!(try NotifySocket("/no/such/socket").send(["READY=1"])))
        for name in ["relative", "vsock:2:1234", "/" + String(repeating: "x", count: 107)] {
            #expect(throws: SystemError(call: "NOTIFY_SOCKET", number: EINVAL)) { try NotifySocket(name) }
        }
    }
}

/// The socket of a service manager.
private struct DatagramReceiver {
    private let descriptor: Int32
    private let path: String

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        if path.hasPrefix("@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let status = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(status == 0)
    }

    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    func close() {
        Glibc.close(descriptor)
        if !path.hasPrefix("@") { unlink(path) }
    }
}

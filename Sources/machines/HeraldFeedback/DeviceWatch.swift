internal import Glibc
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldHTTP
internal import HeraldHub
internal import HeraldKafka
internal import HeraldTelemetry
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime

/// Reads the hub's feedback container periodically, on its own thread, and hands over new devices.
///
/// The blobs' marks are in the state topic: an offset's metadata has room for a few dozen names only, and the feedback
/// topic would have to be read as a whole at each start.
final class DeviceWatch: Sendable {
    private struct State {
        var work: [OutgoingRecord]?
        var isWritten = false
        var isClosed = false
    }

    /// The maximum size of a blob in bytes.
    private static let blobLimit = 32 << 20
    private static let listLimit = 4 << 20
    /// The maximum number of a container's pages, a thousand blobs each; a hub keeps a blob for each hour with news.
    private static let pageLimit = 1_000
    /// The pause before the next look after trouble.
    private static let troublePause = Duration.seconds(60)

    private let configuration: FeedbackConfiguration
    private let hub: HubClient
    private let interval: Duration
    private let logger: Logger
    /// Wakes the loop.
    private let wakeup: Wakeup
    /// Wakes its own thread.
    private let answer: Wakeup
    private let state = Guarded(State())
    private let thread = Guarded<OwnThread?>(nil)

    /// Begins to watch.
    init(
        _ configuration: FeedbackConfiguration, _ connectionString: HubConnectionString, interval: Duration,
        logger: Logger, wakeup: Wakeup
    ) throws(SystemError) {
        self.configuration = configuration
        self.interval = interval
        self.logger = logger
        self.wakeup = wakeup
        hub = HubClient(
            connectionString, hub: configuration.hub, timeout: configuration.timeout,
            proxy: configuration.connections.proxy, tls: configuration.connections.tls,
            versions: configuration.connections.versions)
        answer = try Wakeup()
        let made = try OwnThread(name: "devices") { [self] in run() }
        thread.withLock { $0 = made }
    }

    /// Records to write in one transaction; ``written()`` follows.
    func takeWork() -> [OutgoingRecord]? {
        state.withLock { state in
            defer { state.work = nil }
            return state.work
        }
    }

    /// Notes that the work is durable.
    func written() {
        state.withLock { $0.isWritten = true }
        answer.signal()
    }

    /// Ends the thread and waits for it.
    func close() {
        state.withLock { $0.isClosed = true }
        answer.signal()
        thread.withLock { $0 }?.join()
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: The thread

    private enum Trouble: Error {
        case closed
        case sentence(String)
        /// The hub's tier has no such container.
        case none
    }

    private func run() {
        var marks: DeviceMarks?
        while !isClosed {
            var pause = interval
            do {
                var known = try marks ?? readMarks()
                try look(&known)
                marks = known
            } catch Trouble.closed {
                return
            } catch Trouble.none {
                logger.info("the hub's tier has no feedback container: devices that are gone are not reported")
                return
            } catch {
                // Records handed over and not durable must not count as known.
                marks = nil
                pause = min(interval, Self.troublePause)
                let reason = if case Trouble.sentence(let text) = error { text } else { "\(error)" }
                logger.warning(
                    "the hub's feedback container cannot be read, trying again",
                    ["reason": .string(SafeText.escaped(String(reason.prefix(300))))])
            }
            rest(pause)
        }
    }

    private func rest(_ time: Duration) {
        let end = ContinuousClock.now + time
        while !isClosed, ContinuousClock.now < end {
            if answer.wait(for: end - .now) { answer.drain() }
        }
    }

    private func readMarks() throws -> DeviceMarks {
        let topic = configuration.topics.state
        let reader = try TopicReader(properties: configuration.readerProperties)
        defer { reader.close() }
        let partitions = try reader.consumer.queries.partitions(
            of: topic, timeout: configuration.timeout)
        try reader.begin(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .beginning) }), to: .committed)
        var marks = DeviceMarks()
        while true {
            guard !isClosed else { throw Trouble.closed }
            switch try reader.next(wait: .milliseconds(100)) {
            case .end: return marks
            case .nothing: break
            case .record(let message):
                defer { message.release() }
                guard let key = message.keyBytes else { continue }
                marks.read(key: Array(key), value: message.valueBytes.map(Array.init))
            }
        }
    }

    private func look(_ marks: inout DeviceMarks) throws {
        let container = try askForContainer()
        var names: Set<String> = []
        var marker: String?
        var pages = 0
        repeat {
            pages += 1
            guard pages <= Self.pageLimit else {
                throw Trouble.sentence("the container's list has more than \(Self.pageLimit) pages")
            }
            let page = try reading {
                try BlobContainer.Page(document: try get(container.list(from: marker), limit: Self.listLimit))
            }
            for blob in page.blobs {
                names.insert(blob.name)
                guard let start = marks.start(of: blob.name, etag: blob.etag) else { continue }
                try read(blob, from: start, in: container, &marks)
            }
            marker = page.marker
        } while marker != nil
        let gone = marks.gone(from: names).map { marks.set(nil, of: $0) }
        if !gone.isEmpty { try hand(over: gone.map(stateRecord)) }
        logger.debug("the feedback container is read", ["blobs": .int(names.count)])
    }

    private func askForContainer() throws -> BlobContainer {
        switch hub.perform(.get, "feedbackcontainer", isCancelled: { self.isClosed }) {
        case .response(let answer) where (200..<300).contains(answer.status):
            return try reading {
                try BlobContainer(address: String(decoding: answer.body, as: UTF8.self))
            }
        case .response(let answer) where [403, 404].contains(answer.status) && answer.retryAfterSeconds == 0:
            throw Trouble.none
        case .response(let answer): throw Trouble.sentence("HTTP \(answer.status)")
        case .failure(_, let detail): throw isClosed ? Trouble.closed : .sentence(detail)
        }
    }

    private func read(
        _ blob: BlobContainer.Page.Blob, from start: Int, in container: BlobContainer, _ marks: inout DeviceMarks
    ) throws {
        let bytes = try get(container.blob(blob.name), limit: Self.blobLimit)
        let news: [DeviceNews]
        do throws(InvalidArgument) {
            news = try DeviceNews.read(blob: bytes)
        } catch {
            // An unreadable blob must not keep the others from being read.
            return logger.warning(
                "a blob of the feedback container cannot be read",
                ["blob": .string(SafeText.escaped(blob.name)), "reason": .string("\(error)")])
        }
        let now = SystemClock.wall()
        let records = news.dropFirst(start).map { device in
            let feedback = DeviceFeedback(device, checkedAt: now)
            return OutgoingRecord(
                topic: configuration.topics.feedback, key: feedback.recordKey, value: feedback.encoded())
        }
        let mark = marks.set(DeviceMarks.Mark(etag: blob.etag, devices: max(start, news.count)), of: blob.name)
        try hand(over: records + [stateRecord(mark)])
        logger.info("devices are gone", ["count": .int(records.count), "blob": .string(blob.name)])
    }

    private func stateRecord(_ record: (key: [UInt8], value: [UInt8]?)) -> OutgoingRecord {
        OutgoingRecord(topic: configuration.topics.state, key: record.key, value: record.value)
    }

    /// Hands the records over and waits until they are durable.
    private func hand(over records: [OutgoingRecord]) throws {
        state.withLock { state in
            state.work = records
            state.isWritten = false
        }
        wakeup.signal()
        while true {
            let (isWritten, isClosed) = state.withLock { ($0.isWritten, $0.isClosed) }
            if isWritten { return }
            if isClosed { throw Trouble.closed }
            _ = answer.wait(for: .seconds(60))
            answer.drain()
        }
    }

    private func get(_ address: Secret, limit: Int) throws -> [UInt8] {
        let request = SingleRequest(
            .get, url: address.reveal(), authorization: nil, bodyLimit: limit,
            timeout: 6 * configuration.timeout, proxy: configuration.connections.proxy,
            tls: TLSFiles(caFile: configuration.connections.tls.caFile))
        switch request.perform(isCancelled: { self.isClosed }) {
        case .response(let answer) where (200..<300).contains(answer.status): return answer.body
        case .response(let answer): throw Trouble.sentence("HTTP \(answer.status) from the container")
        case .failure(_, let detail): throw isClosed ? Trouble.closed : .sentence(detail)
        }
    }

    private func reading<Value>(_ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let error as InvalidArgument {
            throw Trouble.sentence(error.description)
        }
    }
}

extension DeviceFeedback {
    init(_ news: DeviceNews, checkedAt: WallTime) {
        self.init(
            platform: news.platform, handle: news.handle, newHandle: news.newHandle,
            registrationID: news.registrationID, installationID: news.installationID, reason: news.reason,
            backendID: news.messageID, at: news.at, checkedAt: checkedAt)
    }
}

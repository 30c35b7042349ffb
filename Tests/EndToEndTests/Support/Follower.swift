import Glibc
import HeraldKafka
import HeraldThreads
import Synchronization

/// Reads whole topics from their beginning as they grow, committed records only, on its own thread.
final class Follower: Sendable {
    private struct State {
        var records: [String: [StoredRecord]] = [:]
        /// The offset after the last record that was read.
        var positions: [TopicPartition: Int64] = [:]
        var errors: [String] = []
        var isStopping = false
    }

    private let state = Mutex(State())
    private let wakeup: Wakeup
    private let thread = Mutex<OwnThread?>(nil)

    /// Starts to read these partitions.
    ///
    /// It asks for their beginnings before it returns: a test may kill the brokers next, and each query would then wait
    /// for its time-out.
    init(bootstrapServers: String, partitions: [TopicPartition]) throws {
        wakeup = try Wakeup()
        // The thread is the only user after this.
        nonisolated(unsafe) let reader = try TopicReader(
            properties: [
                ("bootstrap.servers", bootstrapServers), ("group.id", "follower"), ("auto.offset.reset", "earliest"),
                ("isolation.level", "read_committed"), ("fetch.wait.max.ms", "100"),
                ("reconnect.backoff.max.ms", "500"),
            ],
            // A test's end waits for one query per topic, when all brokers are dead.
            questions: .seconds(2))
        reader.consumer.queue.notify(wakeup)
        try reader.begin(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .beginning) }))
        let started = try OwnThread(name: "follower") { [self] in
            do {
                try follow(reader)
            } catch {
                state.withLock { $0.errors.append("\(error)") }
            }
        }
        thread.withLock { $0 = started }
    }

    private func follow(_ reader: TopicReader) throws {
        while !state.withLock({ $0.isStopping }) {
            do throws(KafkaError) {
                try drain(reader)
            } catch {
                // topics that are deleted and created again are what some tests are about.
                guard error.isOfTopic else { throw error }
            }
            // Transaction markers may follow the last record.
            state.withLock { $0.positions = reader.positions }
            var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&descriptor, 1, 200)
            wakeup.drain()
        }
        reader.close()
    }

    private func drain(_ reader: TopicReader) throws(KafkaError) {
        while case .record(let message) = try reader.next() {
            take(message)
            message.release()
        }
    }

    private func take(_ message: Message) {
        let record = StoredRecord(message)
        state.withLock { $0.records[record.topic, default: []].append(record) }
    }

    /// The records read from a topic so far, each partition in order.
    func records(of topic: String) -> [StoredRecord] { state.withLock { $0.records[topic] ?? [] } }

    /// The number of records read from a topic so far.
    func count(of topic: String) -> Int { state.withLock { $0.records[topic]?.count ?? 0 } }

    /// Whether everything below these offsets was read; throws when reading has failed.
    func hasRead(to ends: [TopicPartition: Int64]) throws -> Bool {
        try state.withLock { state in
            if let error = state.errors.first { throw WorldError("reading the topics failed: \(error)") }
            return ends.allSatisfy { (state.positions[$0.key] ?? 0) >= $0.value }
        }
    }

    /// Stops reading and waits for the thread's end.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }
}

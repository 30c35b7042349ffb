import Glibc
import HeraldTime

/// Kafka's protocol on a loopback socket, for requests that librdkafka lacks.
enum KafkaWire {
    static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return address
    }

    /// A connection to this port of loopback.
    static func connect(port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = address(port: port)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isConnected { return descriptor }
        close(descriptor)
        return nil
    }

    static func number(_ bytes: [UInt8], at place: Int) -> Int32 {
        Int32(bitPattern: bytes[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }

    static func read(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = recv(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, 0)
                guard got > 0 else {
                    isWhole = false
                    return
                }
                filled += got
            }
        }
        return isWhole ? bytes : nil
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Consecutive values of Kafka's protocol.
    struct Writer {
        var bytes: [UInt8] = []

        mutating func put(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
        }

        mutating func put(_ text: String) {
            put(Int16(text.utf8.count))
            bytes += text.utf8
        }
    }

    /// Sends a request and returns its answer without the header.
    ///
    /// - Parameter isFlexible: Whether this version of the request has tagged fields.
    static func ask(
        port: Int, _ request: Int16, version: Int16, isFlexible: Bool = false, _ body: Writer
    ) throws -> [UInt8] {
        guard let descriptor = connect(port: port) else {
            throw ChildProcess.Failure(description: "nobody listens on port \(port)")
        }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: Patience.seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var frame = Writer()
        frame.put(request)
        frame.put(version)
        frame.put(Int32(1))
        frame.put("herald-tests")
        // No tagged fields in the header, and none after the body.
        let tags: [UInt8] = isFlexible ? [0] : []
        frame.bytes += tags + body.bytes + tags
        var sized = Writer()
        sized.put(Int32(frame.bytes.count))
        guard write(sized.bytes + frame.bytes, to: descriptor), let size = read(4, from: descriptor),
            let answer = read(Int(number(size, at: 0)), from: descriptor)
        else { throw ChildProcess.Failure(description: "port \(port) does not answer request \(request)") }
        return Array(answer.dropFirst(4 + tags.count))
    }

    /// Throws unless an answer's error code, at this place, is one of these.
    static func check(_ answer: [UInt8], at place: Int, _ what: String, allowed: Set<Int16> = [0]) throws {
        let code = Int16(bitPattern: UInt16(answer[place]) << 8 | UInt16(answer[place + 1]))
        guard allowed.contains(code) else { throw ChildProcess.Failure(description: "\(what): error \(code)") }
    }
}

extension KafkaWire {
    /// Tells a controller that a broker is gone for good: when this returns, the broker leads nothing.
    static func unregister(broker: String, controllerPort: Int) throws {
        var body = Writer()
        body.put(Int32(broker) ?? -1)
        let answer = try ask(port: controllerPort, 64, version: 0, isFlexible: true, body)
        // 102, BROKER_ID_NOT_REGISTERED: it is gone already.
        try check(answer, at: 4, "unregistering broker \(broker)", allowed: [0, 102])
    }

    /// Deletes the records of a partition before this offset, on its leader.
    static func deleteRecords(port: Int, topic: String, partition: Int32, before offset: Int64) throws {
        var body = Writer()
        body.put(Int32(1))
        body.put(topic)
        body.put(Int32(1))
        body.put(partition)
        body.put(offset)
        body.put(Int32(clamping: Patience.timeout))
        let answer = try ask(port: port, 21, version: 1, body)
        // After the throttle time, both counts, the topic's name, the partition's number and its new beginning.
        let place = 4 + 4 + 2 + topic.utf8.count + 4 + 4 + 8
        try check(answer, at: place, "deleting records of \(topic)/\(partition)")
    }
}

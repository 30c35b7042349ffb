import Foundation

/// Batches that no well-meaning producer makes, to be written by Kafka's protocol.
public enum RawBatch {
    /// A compression bomb: records with large values, in some kilobytes of zstd that do not state the unpacked size.
    public static func bomb(records: Int, valueBytes: Int) -> [UInt8] {
        // A frame's magic number; no size; a window of 128 KiB.
        var payload: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]
        for number in 0..<records {
            let (begin, end) = frame(ofRecord: number, valueBytes: valueBytes)
            appendBlock(to: &payload, type: 0, size: begin.count, begin)
            var left = valueBytes
            while left > 0 {
                let size = min(left, 128 << 10)
                // One byte, repeated.
                appendBlock(to: &payload, type: 1, size: size, [UInt8(ascii: "a")])
                left -= size
            }
            appendBlock(to: &payload, type: 0, size: end.count, end, isLast: number == records - 1)
        }
        return batch(codec: 4, records: records, payload)
    }

    /// Records in lz4, with bytes after its end: brokers accept that, librdkafka does not.
    public static func trailing(records: Int) -> [UInt8] {
        var content: [UInt8] = []
        for number in 0..<records {
            let (begin, end) = frame(ofRecord: number, valueBytes: 10)
            content += begin + [UInt8](repeating: UInt8(ascii: "a"), count: 10) + end
        }
        // A frame's magic number, independent blocks of up to 64 KiB, their checksum; one stored block; the end.
        var payload: [UInt8] = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]
        payload += littleEndian(UInt32(content.count) | 1 << 31) + content + littleEndian(0)
        return batch(codec: 3, records: records, payload + [0, 1, 2, 3])
    }

    /// Uncompressed records with one timestamp (milliseconds since the Unix epoch); each is shorter than 64 bytes.
    public static func plain(records: Int, at moment: Int64) -> [UInt8] {
        var content: [UInt8] = []
        for number in 0..<records {
            let (begin, end) = frame(ofRecord: number, valueBytes: 10)
            content += begin + [UInt8](repeating: UInt8(ascii: "a"), count: 10) + end
        }
        return batch(codec: 0, records: records, at: moment, content)
    }

    /// Bytes of a batch that a disk may alter.
    public enum Place: UInt64, Sendable {
        /// The version of its format.
        case magic = 16
        /// The second half of its attributes, with the codec.
        case codec = 22
        /// The length of its first record, if that is shorter than 64 bytes.
        case firstLength = 61
    }

    /// The bytes before and after a record's value: no key, no headers.
    private static func frame(ofRecord number: Int, valueBytes: Int) -> (begin: [UInt8], end: [UInt8]) {
        let rest = [0] + varint(0) + varint(number) + varint(-1) + varint(valueBytes)
        let end = varint(0)
        return (varint(rest.count + valueBytes + end.count) + rest, end)
    }

    private static func batch(
        codec: Int16, records: Int, at moment: Int64 = 1_700_000_000_000, _ payload: [UInt8]
    ) -> [UInt8] {
        var body = KafkaWire.Writer()
        body.put(codec)
        body.put(Int32(records - 1))
        for _ in 0..<2 { body.put(moment) }
        // No idempotent producer.
        body.put(Int64(-1))
        body.put(Int16(-1))
        body.put(Int32(-1))
        body.put(Int32(records))
        body.bytes += payload
        var batch = KafkaWire.Writer()
        batch.put(Int64(0))
        batch.put(Int32(body.bytes.count + 9))
        batch.put(Int32(-1))
        batch.put(Int8(2))
        batch.put(checksum(of: body.bytes))
        return batch.bytes + body.bytes
    }

    private static func appendBlock(
        to payload: inout [UInt8], type: UInt32, size: Int, _ bytes: [UInt8], isLast: Bool = false
    ) {
        payload += littleEndian(UInt32(size) << 3 | type << 1 | (isLast ? 1 : 0)).prefix(3) + bytes
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// A number as encoded in records: zigzag, seven bits per byte.
    private static func varint(_ number: Int) -> [UInt8] {
        var rest = UInt64(bitPattern: Int64(number << 1 ^ number >> 63))
        var bytes: [UInt8] = []
        while rest >= 128 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    /// CRC-32C.
    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0x82f6_3b78 : sum >> 1 }
        }
        return ~sum
    }
}

extension RealKafka {
    /// Writes a batch unchanged and returns the broker's answer: 0 or an error number.
    public func produce(_ batch: [UInt8], to topic: String, _ partition: Int32) throws -> Int16 {
        let port = bootstrapServers.split(separator: ":").last.flatMap { Int($0) } ?? 0
        var body = KafkaWire.Writer()
        // In no transaction; acknowledged by all copies.
        body.put(Int16(-1))
        body.put(Int16(-1))
        body.put(Int32(30_000))
        body.put(Int32(1))
        body.put(topic)
        body.put(Int32(1))
        body.put(partition)
        body.put(Int32(batch.count))
        body.bytes += batch
        let answer = try KafkaWire.ask(port: port, 0, version: 8, body)
        // After both counts, the topic's name and the partition's number.
        let place = 4 + 2 + topic.utf8.count + 4 + 4
        return Int16(bitPattern: UInt16(answer[place]) << 8 | UInt16(answer[place + 1]))
    }
}

import Foundation

/// The body of a collector's answer, an `ExportTraceServiceResponse`.
enum ExportAnswer {
    /// How many of the spans the collector says that it refused; 0 when it says nothing that can be read.
    static func refusedSpans(in body: [UInt8]) -> Int {
        let object = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
        let partial = object?["partialSuccess"] as? [String: Any]
        // Protobuf's JSON has 64-bit numbers as strings; some write plain ones.
        let count = partial?["rejectedSpans"]
        return max(0, (count as? String).flatMap { Int($0) } ?? (count as? Int) ?? 0)
    }
}

import Foundation

/// The body of a collector's answer, an `ExportTraceServiceResponse`.
enum ExportAnswer {
    /// The number of spans that the collector reports as refused; 0 for an unreadable body.
    static func refusedSpans(in body: [UInt8]) -> Int {
        let response = try? JSONDecoder().decode(Response.self, from: Data(body))
        return max(0, response?.partialSuccess.rejectedSpans.value ?? 0)
    }

    private struct Response: Decodable {
        struct Partial: Decodable {
            var rejectedSpans: Count
        }
        var partialSuccess: Partial
    }

    /// Protobuf's JSON writes 64-bit numbers as strings; some collectors write plain ones.
    private struct Count: Decodable {
        var value: Int?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try (try? container.decode(String.self)).map { Int($0) } ?? container.decode(Int.self)
        }
    }
}

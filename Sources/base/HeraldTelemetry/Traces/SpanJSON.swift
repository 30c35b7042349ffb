import HeraldBytes

/// Writes spans as JSON for OTLP/HTTP (OpenTelemetry Protocol, "JSON Protobuf Encoding").
///
/// Names are protobuf's in lower camel case, ids are hexadecimal, 64-bit numbers are strings, enumerations are numbers.
public struct SpanJSON: Sendable {
    private static let scope = "herald"
    /// The trace is recorded, and the flag for a remote parent is valid.
    private static let knownPlace: Int64 = 0x101
    private static let isRemote: Int64 = 0x200

    private let head: [UInt8]

    /// A writer for the spans of one process.
    ///
    /// - Parameters:
    ///   - resource: The attributes of the process, `service.name` above all.
    ///   - version: Herald's.
    public init(resource: [SpanAttribute], version: String) {
        var head: [UInt8] = []
        head.append(text: #"{"resourceSpans":[{"resource":{"attributes":"#)
        Self.append(resource, to: &head)
        head.append(text: #"},"scopeSpans":[{"scope":{"name":"#)
        JSONText.appendString(Self.scope.utf8.span.bytes, to: &head)
        head.append(text: #","version":"#)
        JSONText.appendString(version.utf8.span.bytes, to: &head)
        head.append(text: #"},"spans":["#)
        self.head = head
    }

    /// An `ExportTraceServiceRequest` with these spans.
    public func encoded(_ spans: [TraceSpan]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(head.count + spans.count * 1_024)
        output += head
        for (index, span) in spans.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            Self.append(span, to: &output)
        }
        output.append(text: "]}]}]}")
        return output
    }

    private static func append(_ span: TraceSpan, to output: inout [UInt8]) {
        append(span.context, to: &output)
        if let parent = span.parent {
            output.append(text: #","parentSpanId":""#)
            output.append(hexadecimal: parent.spanID)
            output.append(text: #"","flags":"#)
            output.append(decimal: parent.isRemote ? knownPlace | isRemote : knownPlace)
        } else {
            output.append(text: #","flags":1"#)
        }
        output.append(text: #","name":"#)
        JSONText.appendString(span.name.utf8.span.bytes, to: &output)
        output.append(text: #","kind":"#)
        output.append(decimal: Int64(span.kind.rawValue))
        output.append(text: #","startTimeUnixNano":""#)
        output.append(decimal: span.startNanoseconds)
        output.append(text: #"","endTimeUnixNano":""#)
        output.append(decimal: span.endNanoseconds)
        output.append(text: #"","attributes":"#)
        append(span.attributes, to: &output)
        if let link = span.link {
            output.append(text: #","links":["#)
            append(link, to: &output)
            output.append(text: #","flags":"#)
            output.append(decimal: isRemote | 0x100 | (link.isSampled ? 1 : 0))
            output.append(text: "}]")
        }
        if let failure = span.failure {
            // STATUS_CODE_ERROR
            output.append(text: #","status":{"code":2,"message":"#)
            JSONText.appendString(failure.utf8.span.bytes, to: &output)
            output.append(UInt8(ascii: "}"))
        }
        output.append(UInt8(ascii: "}"))
    }

    /// The beginning of a span or a link.
    private static func append(_ context: TraceContext, to output: inout [UInt8]) {
        output.append(text: #"{"traceId":""#)
        context.traceID.append(to: &output)
        output.append(text: #"","spanId":""#)
        output.append(hexadecimal: context.spanID)
        output.append(UInt8(ascii: "\""))
    }

    private static func append(_ attributes: [SpanAttribute], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        for (index, attribute) in attributes.enumerated() {
            output.append(text: index > 0 ? #",{"key":""# : #"{"key":""#)
            output.append(text: attribute.key)
            output.append(text: #"","value":"#)
            append(attribute.value, to: &output)
            output.append(UInt8(ascii: "}"))
        }
        output.append(UInt8(ascii: "]"))
    }

    private static func append(_ value: SpanAttribute.Value, to output: inout [UInt8]) {
        switch value {
        case .string(let text):
            output.append(text: #"{"stringValue":"#)
            JSONText.appendString(text.utf8.span.bytes, to: &output)
            output.append(UInt8(ascii: "}"))
        case .integer(let number):
            output.append(text: #"{"intValue":""#)
            output.append(decimal: number)
            output.append(text: #""}"#)
        case .strings(let texts):
            output.append(text: #"{"arrayValue":{"values":["#)
            for (index, text) in texts.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                append(.string(text), to: &output)
            }
            output.append(text: "]}}")
        }
    }
}

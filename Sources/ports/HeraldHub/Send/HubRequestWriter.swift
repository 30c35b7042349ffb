internal import HeraldBytes
public import HeraldEvents
public import HeraldTime

/// Writes sends as bytes; what is the same in all of a format is written once.
///
/// An object that never changes: using it costs no reference count for each of its arrays.
public final class HubRequestWriter: Sendable {
    private struct Service: Sendable {
        let name: [UInt8]
        let format: NotificationFormat
        /// Everything up to the user in the tag.
        let start: [UInt8]
    }

    private let services: [Service]
    /// The rest of the tag, its line's end, and the tracking id up to the call's own part.
    private let tagEnd: [UInt8]

    /// - Parameters:
    ///   - authorization: the value of that header; `nil` leaves it out.
    ///   - tracking: the first half of all tracking ids.
    public init(_ sending: HubSending, authorization: String?, tracking: UInt64) {
        var headers = "Host: \(sending.connectionString.authority)\r\n"
        if let authorization { headers += "Authorization: \(authorization)\r\n" }
        headers += "User-Agent: herald\r\n"
        services = sending.formats.sorted { $0.key < $1.key }.map { name, format in
            Service(name: Array(name.utf8), format: format, start: Self.start(sending, format, headers))
        }
        tagEnd = Array("\(sending.tag.end)\r\n\(TrackingID.header): ".utf8) + TrackingID.start(tracking)
    }

    private static func start(_ sending: HubSending, _ format: NotificationFormat, _ headers: String) -> [UInt8] {
        var text = "POST \(sending.path)?api-version=\(HubClient.apiVersion) HTTP/1.1\r\n\(headers)"
        text += "Content-Type: \(format.contentType)\r\nServiceBusNotification-Format: \(format.rawValue)\r\n"
        if format == .windows { text += "X-WNS-Type: wns/toast\r\n" }
        return Array("\(text)ServiceBusNotification-Tags: \(sending.tag.start)".utf8)
    }

    /// The number of a push service among those that have a format.
    public func service(named name: RawSpan) -> Int? {
        services.firstIndex { name.byteCount == $0.name.count && name.hasSameBytes(as: $0.name.span.bytes) }
    }

    /// The parts beside the message that a push service's format has a place for.
    public func carries(to pushService: String) -> ContentFields {
        services.first { $0.name.elementsEqual(pushService.utf8) }?.format.content ?? []
    }

    /// Appends the body of a notification.
    ///
    /// - Returns: why its push service would not take it, which says by how many bytes it is too large; `nil` when it is not.
    public func appendBody(
        service: Int, message: RawSpan, content: borrowing EventContent = EventContent(), options: DeliveryOptions,
        now: WallTime,
        to output: inout [UInt8]
    ) -> String? {
        services[service].format.appendBody(message: message, content, options: options, now: now, to: &output)
    }

    /// Appends the call for a notification whose body is written.
    ///
    /// - Parameters:
    ///   - user: only what a tag may hold.
    ///   - token: the other half of its tracking id.
    public func append(
        service: Int, user: RawSpan, body: [UInt8], options: DeliveryOptions, now: WallTime,
        token: UInt64, to output: inout [UInt8]
    ) {
        output.append(contentsOf: services[service].start)
        output.append(copying: user)
        output.append(contentsOf: tagEnd)
        TrackingID.appendEnd(token, to: &output)
        output.append(text: "\r\n")
        switch services[service].format {
        case .apple: appendAppleHeaders(options, to: &output)
        case .windows:
            if let expiresAt = options.expiresAt {
                output.append(text: "X-WNS-TTL: ")
                output.append(decimal: NotificationBody.secondsLeft(expiresAt, now))
                output.append(text: "\r\n")
            }
        case .gcm, .fcmv1, .browser: break
        }
        output.append(text: "Content-Length: ")
        output.append(decimal: Int64(body.count))
        output.append(text: "\r\n\r\n")
        output.append(contentsOf: body)
    }

    private func appendAppleHeaders(_ options: DeliveryOptions, to output: inout [UInt8]) {
        output.append(text: "apns-push-type: ")
        if !options.pushType.isEmpty {
            output.append(contentsOf: options.pushType)
        } else {
            output.append(text: "alert")
        }
        // Apple refuses what only wakes the app with any other priority.
        if options.isInBackground || options.isUrgent == false {
            output.append(text: "\r\napns-priority: 5")
        } else if options.isUrgent == true {
            output.append(text: "\r\napns-priority: 10")
        }
        if !options.collapseID.isEmpty {
            output.append(text: "\r\napns-collapse-id: ")
            output.append(contentsOf: options.collapseID)
        }
        if let expiresAt = options.expiresAt {
            output.append(text: "\r\napns-expiration: ")
            output.append(decimal: expiresAt.milliseconds / 1_000)
            // How long the hub itself tries; it would be a day.
            output.append(text: "\r\nServiceBusNotification-Apns-Expiry: ")
            RFC3339.append(expiresAt, to: &output)
        }
        output.append(text: "\r\n")
    }
}

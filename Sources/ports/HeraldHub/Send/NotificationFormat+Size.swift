internal import HeraldBytes
package import HeraldEvents
package import HeraldTime

extension NotificationFormat {
    /// Why the push service would not take an event's notification; `nil` when it does.
    package func oversize(of event: borrowing DecodedEvent, value: RawSpan, now: WallTime) -> String? {
        var body: [UInt8] = []
        return appendBody(
            message: event.bytes(of: event.message, value: value), event.content(in: value),
            options: DeliveryOptions(of: event, value: value), now: now, to: &body)
    }

    /// Appends the body of a notification; why it is too large, `nil` when it is not.
    func appendBody(
        message: RawSpan, _ content: borrowing EventContent, options: DeliveryOptions, now: WallTime,
        to output: inout [UInt8]
    ) -> String? {
        NotificationBody.append(self, message: message, content, options: options, now: now, to: &output)
        let limit = byteLimit(isVoIP: options.isVoIP)
        guard output.count > limit else { return nil }
        // The longest part is the one to shorten.
        var longest = (name: "message", byteCount: message.byteCount)
        for field in self.content.fields where content.byteCount(of: field) > longest.byteCount {
            longest = (field.rawValue, content.byteCount(of: field))
        }
        return
            "the notification has \(output.count) bytes, \(output.count - limit) more than its push service takes; "
            + "shorten \(longest.name), which has \(longest.byteCount) bytes"
    }
}

extension DeliveryOptions {
    /// Those of an event.
    package init(of event: borrowing DecodedEvent, value: RawSpan) {
        self.init(
            expiresAt: event.expiresAt, isUrgent: event.options.isUrgent,
            pushType: Self.copy(event.bytes(of: event.options.pushType, value: value)),
            collapseID: Self.copy(event.bytes(of: event.options.collapseID, value: value)))
    }

    /// Nothing is allocated for nothing.
    private static func copy(_ bytes: RawSpan) -> [UInt8] {
        bytes.byteCount == 0 ? [] : bytes.withUnsafeBytes { Array($0) }
    }
}

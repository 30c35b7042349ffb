package import HeraldEvents
package import HeraldKafka

extension Message {
    /// The result that it is; `nil` for what another program has written to the results topic.
    package var result: NotificationResult? {
        withValue { value in
            guard let value else { return nil }
            return try? NotificationResult(decoding: value)
        }
    }
}

extension HeaderList {
    /// Takes a record's headers in place of its own.
    package mutating func replaceAll(by message: Message) {
        removeAll()
        message.forEachHeader { append(name: $0, value: $1) }
    }
}

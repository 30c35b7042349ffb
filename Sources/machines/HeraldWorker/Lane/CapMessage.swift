package import HeraldKafka

/// A record of the caps topic, on its way to the lane whose home partition it lies in.
package struct CapMessage: Sendable {
    /// Where a reading at an assignment ends: behind all that was written before it began, committed or not.
    ///
    /// The former owner of a partition may have a transaction open whose commit the group has accepted. It ends, and what
    /// it delivered is read, before anything is called.
    package static let end = TopicReader.End.written

    package var partition: Int32
    package var key: [UInt8]?
    package var value: [UInt8]?

    package init(partition: Int32, key: [UInt8]?, value: [UInt8]?) {
        self.partition = partition
        self.key = key
        self.value = value
    }
}

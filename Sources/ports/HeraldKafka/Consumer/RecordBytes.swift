/// A record that lends its key and value in place.
public protocol RecordBytes {
    /// The key until ``release()``; `nil` for a null key.
    var keyBytes: UnsafeRawBufferPointer? { get }
    /// The value until ``release()``; `nil` for a null value (a tombstone).
    var valueBytes: UnsafeRawBufferPointer? { get }
    /// Visits the headers in order, repeated names too; a value may be null.
    func forEachHeader(_ body: (_ name: RawSpan, _ value: RawSpan?) -> Void)
    /// Gives the memory back.
    func release()
}

extension RecordBytes {
    /// Lends the key; `nil` for a null key.
    @inlinable
    public func withKey<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R {
        guard let bytes = keyBytes else { return try body(nil) }
        return try body(bytes.bytes)
    }

    /// Lends the value; `nil` for a null value (a tombstone).
    @inlinable
    public func withValue<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R {
        guard let bytes = valueBytes else { return try body(nil) }
        return try body(bytes.bytes)
    }
}

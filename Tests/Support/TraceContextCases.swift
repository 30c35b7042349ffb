/// What W3C's own tests of Trace Context (w3c/trace-context, `test/test.py`) send to a service that gets a `traceparent`.
///
/// Two of them are of HTTP alone: a header in two lines, and white space around its value.
public enum TraceContextCases {
    /// The trace of all that have one.
    public static let trace = "12345678901234567890123456789012"
    /// The span that the header names.
    public static let parent = "1234567890123456"

    /// Valid ones, also of a version to come and with unknown flags.
    public static let valid = [
        "00-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-00", "cc-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-ff",
    ]

    /// Those with a wrong version.
    public static let wrongVersions = [
        "ff-\(trace)-\(parent)-01", ".0-\(trace)-\(parent)-01", "0.-\(trace)-\(parent)-01",
        "000-\(trace)-\(parent)-01", "0000-\(trace)-\(parent)-01", "0-\(trace)-\(parent)-01",
        "00-\(trace)-\(parent)-01.",
        "00-\(trace)-\(parent)-01-what-the-future-will-be-like", "cc-\(trace)-\(parent)-01.what-the-future",
    ]

    /// Those with a wrong trace or span id or flags.
    public static let wrongIDs = [
        "00-00000000000000000000000000000000-\(parent)-01", "00-.2345678901234567890123456789012-\(parent)-01",
        "00-1234567890123456789012345678901.-\(parent)-01", "00-\(trace)3-\(parent)-01",
        "00-1234567890123456789012345678901-\(parent)-01", "00-\(trace)-0000000000000000-01",
        "00-\(trace)-.234567890123456-01", "00-\(trace)-123456789012345.-01", "00-\(trace)-\(parent)7-01",
        "00-\(trace)-123456789012345-01", "00-\(trace)-\(parent)-.0", "00-\(trace)-\(parent)-0.",
        "00-\(trace)-\(parent)-001", "00-\(trace)-\(parent)-1", "00-\(trace)-\(parent)", "", "foobar",
        "00-ABCDEF78901234567890123456789012-\(parent)-01",
    ]
}

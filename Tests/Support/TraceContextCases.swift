/// The values of `traceparent` in W3C's own tests of Trace Context (w3c/trace-context, `test/test.py`).
///
/// Two tests concern HTTP alone: a header in two lines, and white space around its value.
public enum TraceContextCases {
    /// The trace id of all cases that have one.
    public static let trace = "12345678901234567890123456789012"
    /// The span id in the header.
    public static let parent = "1234567890123456"

    /// Valid ones, including a future version and unknown flags.
    public static let valid = [
        "00-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-00", "cc-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-ff",
    ]

    /// Cases with a wrong version.
    public static let wrongVersions = [
        "ff-\(trace)-\(parent)-01", ".0-\(trace)-\(parent)-01", "0.-\(trace)-\(parent)-01",
        "000-\(trace)-\(parent)-01", "0000-\(trace)-\(parent)-01", "0-\(trace)-\(parent)-01",
        "00-\(trace)-\(parent)-01.",
        "00-\(trace)-\(parent)-01-what-the-future-will-be-like", "cc-\(trace)-\(parent)-01.what-the-future",
    ]

    /// Cases with a wrong trace id, span id or flags.
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

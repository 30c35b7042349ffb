/// libFuzzer's entry: reads any bytes as a backend's side of HTTP/2, whole and in parts; see
/// `HTTP2SessionProperties.brokenProperty`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP2Session(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    if let broken = HTTP2SessionProperties.brokenProperty(input) { fatalError(broken) }
    return 0
}

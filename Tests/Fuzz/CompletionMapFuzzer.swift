/// libFuzzer's entry: reads any bytes as a commit's metadata; see `CompletionMapProperties.brokenProperty`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCompletionMap(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    if let broken = CompletionMapProperties.brokenProperty(input) { fatalError(broken) }
    return 0
}

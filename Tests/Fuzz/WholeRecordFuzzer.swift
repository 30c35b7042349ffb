/// libFuzzer's entry: passes any bytes as a record through decoder, engine and encoders; see
/// `WholeRecordProperties.brokenProperty`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWholeRecord(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    if let broken = WholeRecordProperties.brokenProperty(input) { fatalError(broken) }
    return 0
}

/// libFuzzer's entry: any bytes are a record that goes through decoder, engine and encoders; see
/// `WholeRecordProperties.brokenProperty`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWholeRecord(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    if let broken = WholeRecordProperties.brokenProperty(input) { fatalError(broken) }
    return 0
}

/// libFuzzer's entry: reads any bytes as an answer, whole and in parts; see `ReadAnswer.brokenProperty`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAnswerReader(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    if let broken = ReadAnswer.brokenProperty(input) { fatalError(broken) }
    return 0
}

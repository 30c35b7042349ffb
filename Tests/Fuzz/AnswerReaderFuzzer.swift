/// libFuzzer's entry: any bytes are read as an answer, whole and in pieces; see `ReadAnswer.brokenProperty`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAnswerReader(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    if let broken = ReadAnswer.brokenProperty(input) { fatalError(broken) }
    return 0
}

/// libFuzzer's entry: reads one input after the other; a broken property ends the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEventDecoder(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    do {
        try EventDecoderProperties.check(input)
    } catch {
        fatalError("\(error)")
    }
    return 0
}

import HeraldText
import Testing

@Suite("Whole numbers from arbitrary ones")
struct SaturatingTests {
    @Test(
        "The nearest whole number is taken, within bounds that can be counted in milliseconds",
        arguments: [
            (0.4, 0), (2.5, 3), (-2.5, -3), (1e300, 1_000_000_000_000_000), (-1e300, -1_000_000_000_000_000),
            (.infinity, 1_000_000_000_000_000), (.nan, 0), (1e-300, 0),
        ] as [(Double, Int)])
    func saturating(number: Double, whole: Int) {
        #expect(Int(saturating: number) == whole)
        #expect(!whole.multipliedReportingOverflow(by: 1_000).overflow)
    }
}

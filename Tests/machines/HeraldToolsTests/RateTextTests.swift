import HeraldTools
import Testing

@Suite("Rates and shares in text form")
struct RateTextTests {
    @Test(
        "A rate's text is read as that rate",
        arguments: ["1/h", "7/h", "24/m", "90/m", "1/s", "200/s", "1000000000/s"])
    func written(text: String) throws {
        let rate = try #require(RateText.parse(text))
        #expect(RateText.parse(RateText.text(rate)) == rate)
        #expect(RateText.text(rate) == text)
    }

    @Test("A rate without an exact text is written as the nearest readable one")
    func nearest() {
        #expect(RateText.text(0.4) == "24/m" && RateText.text(1.5) == "90/m" && RateText.text(0.01) == "36/h")
        #expect(RateText.text(.pi) == "11310/h" && RateText.text(1e-9) == "1/h" && RateText.text(60.0 / 3_600) == "1/m")
    }

    @Test(
        "A share is written without the error of binary fractions",
        arguments: ["0%", "7%", "5.5%", "29%", "57%", "100%"])
    func share(text: String) throws { #expect(ShareText.text(try #require(ShareText.parse(text))) == text) }

    @Test("A share needs its %, with or without a space before")
    func shares() {
        #expect(ShareText.parse("5 %") == 0.05 && ShareText.parse("5%") == 0.05)
        for text in ["5", "0.05", "%", " %", "5  %", "101%", "-1 %"] {
            #expect(ShareText.parse(text) == nil, "\(text)")
        }
    }
}

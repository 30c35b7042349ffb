import HeraldCommandLine
import HeraldTools

extension ValueType<Double> {
    /// A share, `20%`, as a number from 0 to 1.
    static var percentage: Self { Self("PERCENT", allowed: "0% to 100%", parse: ShareText.parse) }

    /// So many per second, `200/s`, `30/m` or `1000/h`.
    static var rate: Self { Self("N/s", allowed: "a rate such as 200/s, 30/m or 1000/h", parse: RateText.parse) }
}

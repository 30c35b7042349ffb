internal import HeraldTime
internal import HeraldTools

/// Outcomes over time as an SVG picture of stacked bars; colours are classes of the page.
struct OutcomePicture {
    private static let (width, height) = (720, 240)
    private static let (left, right, top, bottom) = (56, 8, 8, 24)

    let timeline: OutcomeTimeline

    var svg: String {
        let spans = timeline.all
        let most = Self.roundedUp(spans.map(\.span.total).max() ?? 0)
        let (plotWidth, plotHeight) = (Self.width - Self.left - Self.right, Self.height - Self.top - Self.bottom)
        var svg =
            "<svg viewBox=\"0 0 \(Self.width) \(Self.height)\" role=\"img\" aria-labelledby=\"pt pd\">"
            + "<title id=\"pt\">Outcomes over time</title>"
            + "<desc id=\"pd\">Stacked bars, one for each \(Self.words(timeline.secondsPerSpan)); the table below has the numbers.</desc>\n"
        for step in 0...2 {
            let y = Self.top + plotHeight - plotHeight * step / 2
            svg +=
                "<line class=\"grid\" x1=\"\(Self.left)\" x2=\"\(Self.width - Self.right)\" y1=\"\(y)\" y2=\"\(y)\"/>"
            svg += "<text x=\"\(Self.left - 6)\" y=\"\(y + 4)\" text-anchor=\"end\">\(most * step / 2)</text>\n"
        }
        let barWidth = Double(plotWidth) / Double(max(1, spans.count))
        for (index, entry) in spans.enumerated() where entry.span.total > 0 {
            let x = Double(Self.left) + barWidth * Double(index)
            svg += "<g><title>\(Self.words(entry))</title>"
            var below = 0
            for (name, count) in Self.parts(entry.span) where count > 0 {
                let height = Double(plotHeight) * Double(count) / Double(most)
                let y = Double(Self.top + plotHeight) - Double(plotHeight) * Double(below + count) / Double(most)
                svg +=
                    "<rect class=\"\(name)\" x=\"\(Self.short(x))\" y=\"\(Self.short(y))\" "
                    + "width=\"\(Self.short(max(1, barWidth * 0.9)))\" height=\"\(Self.short(max(0.5, height)))\"/>"
                below += count
            }
            svg += "</g>\n"
        }
        for (place, anchor, entry) in [(Self.left, "start", spans.first), (Self.width - Self.right, "end", spans.last)]
        {
            guard let entry else { continue }
            svg +=
                "<text x=\"\(place)\" y=\"\(Self.height - 6)\" text-anchor=\"\(anchor)\">\(Self.time(entry.start))</text>\n"
        }
        return svg + "</svg>"
    }

    /// What a span has, from the bottom up, by the page's classes.
    static func parts(_ span: OutcomeTimeline.Span) -> [(String, Int)] {
        [("delivered", span.delivered), ("recovered", span.recovered), ("ended", span.ended), ("failed", span.failed)]
    }

    /// A moment, without the date's `T` and without milliseconds.
    static func time(_ moment: WallTime) -> String { String(moment.text.prefix(19)).replacing("T", with: " ") + " UTC" }

    /// A text with its moments written so.
    static func times(_ text: String) -> String {
        text.replacing(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z/) { "\($0.1) \($0.2) UTC" }
    }

    private static func words(_ entry: (start: WallTime, span: OutcomeTimeline.Span)) -> String {
        let counts = parts(entry.span).filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        return "\(time(entry.start)): \(counts.joined(separator: ", "))"
    }

    static func words(_ seconds: Int64) -> String {
        switch seconds {
        case 1: "second"
        case ..<60: "\(seconds) seconds"
        case 60: "minute"
        case ..<3_600: "\(seconds / 60) minutes"
        case 3_600: "hour"
        case ..<86_400: "\(seconds / 3_600) hours"
        case 86_400: "day"
        default: "\(seconds / 86_400) days"
        }
    }

    /// The next of 2, 4, 10, 20, 40, 100 and so on.
    private static func roundedUp(_ count: Int) -> Int {
        var step = 1
        while true {
            for factor in [2, 4, 10] where factor * step >= count { return factor * step }
            step *= 10
        }
    }

    private static func short(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}

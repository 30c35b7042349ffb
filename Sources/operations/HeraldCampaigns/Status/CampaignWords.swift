package import HeraldEvents
internal import HeraldText
internal import HeraldTools

/// How states of campaigns are written for people; texts from records are made safe to show.
package enum CampaignWords {
    /// A state with its origin, such as `paused since 2026-11-21T18:05:27.000Z by ann@web1: too many fail`.
    package static func state(_ state: CampaignControl.State, _ control: CampaignControl?) -> String {
        guard let control else { return state.rawValue }
        return "\(state.rawValue) since \(control.at.text)" + author(control) + cause(control)
    }

    package static func origin(of control: CampaignControl) -> String {
        "at \(control.at.text)" + author(control) + cause(control)
    }

    private static func author(_ control: CampaignControl) -> String {
        control.by.isEmpty ? "" : " by \(SafeText.escaped(control.by))"
    }

    private static func cause(_ control: CampaignControl) -> String {
        control.reason.map { ": \(SafeText.escaped($0))" } ?? ""
    }

    /// Such as `12 s`, `3 min`, `2 h 5 min` or `4 d 3 h`.
    package static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e9 else { return "years" }
        let whole = Int(seconds.rounded(.up))
        switch whole {
        case ..<100: return "\(whole) s"
        case ..<6_000: return "\((whole + 30) / 60) min"
        case ..<172_800: return "\(whole / 3_600) h \(whole % 3_600 / 60) min"
        default: return "\(whole / 86_400) d \(whole % 86_400 / 3_600) h"
        }
    }

    /// In groups of three digits: `12 400`.
    package static func number(_ number: Int) -> String {
        let digits = String(number)
        var text = ""
        for (index, digit) in digits.enumerated() {
            let left = digits.count - index
            if index > 0, left % 3 == 0, digit != "-" { text += " " }
            text.append(digit)
        }
        return text
    }

    /// Such as `1 recipient` or `12 400 recipients`.
    package static func counted(_ count: Int, _ noun: String) -> String {
        "\(number(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    /// Such as `taken by the backend 998 412; reached a push service 941 003; nobody to reach 51 220`.
    package static func sentence(_ feedback: FeedbackCount, taken: Int) -> String {
        let parts = [("taken by the backend", taken)] + feedback.parts(taken: taken).map { ($0.name, $0.count) }
        return parts.map { "\($0.0) \(number($0.1))" }.joined(separator: "; ")
    }

    /// Such as `240/s` or `2.4/s`.
    package static func rate(_ perSecond: Double) -> String {
        if perSecond >= 10 { return "\(number(Int(saturating: perSecond)))/s" }
        return "\((perSecond * 10).rounded() / 10)/s"
    }
}

import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldText

enum CampaignOptions {
    static let nameType = ValueType<String>("NAME", allowed: "1 to 64 letters, digits, dots, dashes and underscores") {
        CampaignControl.isName($0) ? $0 : nil
    }
    static let name = CommandOption.required("NAME", nameType, "The campaign.")
    static let reason = CommandOption.optional(
        "reason", .text("TEXT"), "Why; other operators see it, and it goes into the audit topic.")
}

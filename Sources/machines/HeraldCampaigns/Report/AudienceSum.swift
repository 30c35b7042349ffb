/// What became of an audience's lines: each is counted once.
package struct AudienceSum: Sendable, Equatable {
    /// People who were reached, each at his first line.
    package internal(set) var reached = 0
    /// People who were not, each at his first line.
    package internal(set) var unreached = 0
    /// People who were left out, each at the first line.
    package internal(set) var excluded = 0
    package internal(set) var repeats = 0
    package internal(set) var invalid = 0
    /// Of these, those in the list.
    package internal(set) var listedInvalid = 0
    package internal(set) var emptyLines = 0
    /// People of the list who are not in the audience.
    package internal(set) var outside = 0
    /// People who were reached, and are not in the audience.
    package internal(set) var reachedOutside = 0

    /// It in a few sentences.
    ///
    /// `users.csv has 3 015 lines: 2 995 people were reached, 6 were not; 8 repeat a person, 4 are
    /// invalid, 2 are empty.`
    package func sentence(_ file: String) -> String {
        func number(_ count: Int) -> String { CampaignWords.number(count) }
        func were(_ count: Int) -> String { count == 1 ? "was" : "were" }
        let lines = reached + unreached + excluded + repeats + invalid + emptyLines
        let rest = [
            ("was left out", "were left out", excluded), ("repeats a person", "repeat a person", repeats),
            ("is invalid", "are invalid", invalid),
            ("is empty", "are empty", emptyLines),
        ]
        .filter { $0.2 > 0 }.map { "\(number($0.2)) \($0.2 == 1 ? $0.0 : $0.1)" }
        let people =
            "\(file) has \(CampaignWords.counted(lines, "line")): \(number(reached)) "
            + "\(reached == 1 ? "person was" : "people were") reached, \(number(unreached)) \(were(unreached)) not"
        let others =
            outside == 0
            ? ""
            : " \(number(outside)) more in the list \(outside == 1 ? "is" : "are") not in this file: at its end, without the other columns."
        let reachedOthers =
            reachedOutside == 0
            ? ""
            : " \(number(reachedOutside)) \(reachedOutside == 1 ? "person was reached who is" : "people were reached who are") not in this file."
        let listed =
            listedInvalid == 0
            ? ""
            : " \(CampaignWords.counted(listedInvalid, "invalid line")) \(listedInvalid == 1 ? "is" : "are") in the list, too, to be mended."
        return people + (rest.isEmpty ? "." : "; \(rest.joined(separator: ", ")).") + listed + reachedOthers + others
    }
}

package import HeraldEvents

/// What a file of words changes, counted in users.
package struct WordChanges: Equatable, Sendable {
    /// Users of the file.
    package var users = 0
    /// Those whose word in the file opts out of something.
    package var optedOut = 0
    /// Those who have a word already.
    package var overwritten = 0
    /// Of these, those who get something again that they had opted out of.
    package var optedIn = 0
    /// Of these, those whose quiet hours end.
    package var quietEnded = 0
    /// Of those who have a word already, those who were forgotten: of them an opt-out was kept without the name.
    package var forgotten = 0

    package init() {}

    /// Counts a user's new word.
    ///
    /// - Parameter former: what stands there; `nil` when the user has said nothing, or that was not asked.
    package mutating func add(_ line: WordFile.Line, former: (word: Preference, isKept: Bool)?) {
        users += 1
        if !line.optOut.isEmpty { optedOut += 1 }
        guard let (former, isKept) = former else { return }
        overwritten += 1
        if isKept { forgotten += 1 }
        if !line.optOut.covers(former.optOut) { optedIn += 1 }
        if former.quiet != nil, line.quiet == nil { quietEnded += 1 }
    }

    /// They in a sentence or two.
    ///
    /// - Parameter areFormerKnown: whether it was asked what stands there.
    package func words(areFormerKnown: Bool) -> String {
        let all = "\(users) user\(users == 1 ? "" : "s"), \(optedOut) of whom have opted out of something."
        guard areFormerKnown else { return all }
        guard overwritten > 0 else { return all + " None of them has said anything before." }
        return all
            + " The words of \(overwritten) are overwritten: \(optedIn) get something again that they had opted out of, and the "
            + "quiet hours of \(quietEnded) end."
            + (forgotten == 0
                ? "" : " \(forgotten) of them had been forgotten, and an opt-out was kept without the name.")
    }

    /// They as the audit has them.
    package var counts: [String: Int] {
        [
            "users": users, "overwritten": overwritten, "optedIn": optedIn, "quietEnded": quietEnded,
            "forgotten": forgotten,
        ]
    }
}

extension OptOut {
    /// Whether it opts out of all that another one does.
    package func covers(_ other: OptOut) -> Bool {
        if isOfAll { return true }
        if other.isOfAll || other.isOfPromotional && !isOfPromotional { return false }
        return Set(other.pushServices).isSubset(of: pushServices)
            && (isOfPromotional || Set(other.sources).isSubset(of: sources))
    }
}

/// A file that is no audience of the campaign that is reported.
package struct ForeignAudience: Error, Equatable, CustomStringConvertible {
    let campaign: String
    /// The recipients of the audience that the campaign has.
    let formerRecipients: Int
    /// Those who were published and are not in that audience, because it has only people who were added, or was replaced.
    let strangers: Int
    /// The recipients of the file, each once.
    let recipients: Int
    /// Of these, those who were never published.
    let unpublished: Int
    /// Those who were published, and are not in the file.
    let missing: Int

    package var description: String {
        func number(_ count: Int) -> String { CampaignWords.number(count) }
        let others =
            missing == 0
            ? ""
            : ", and \(number(missing)) of those who were \(missing == 1 ? "is" : "are") not in it"
        let further =
            strangers == 0
            ? ""
            : ", or one of people who were published, as \(number(strangers)) more "
                + "\(strangers == 1 ? "is" : "are")"
        return "\(number(unpublished)) of \(CampaignWords.counted(recipients, "recipient")) of this file "
            + "\(unpublished == 1 ? "was" : "were") never published by campaign \(campaign)\(others): it is another "
            + "audience. Choose the one that the campaign has, of "
            + "\(CampaignWords.counted(formerRecipients, "recipient"))\(further): in any order and encoding"
    }
}

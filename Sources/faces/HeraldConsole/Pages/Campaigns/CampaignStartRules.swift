package import HeraldEvents
package import HeraldText

/// What the settings say of new campaigns and of files that are uploaded for them.
package struct CampaignStartRules: Sendable {
    package var pushServices: PushServices
    /// `limits.eventBytes`.
    package var maximumEventBytes: Int
    /// `backend.users`.
    package var users: UserRule
    /// The most bytes of an uploaded file.
    package var uploadLimit: Int
    /// Where uploaded files lie, without names.
    package var directory: String

    package init(
        pushServices: PushServices, maximumEventBytes: Int, users: UserRule, uploadLimit: Int, directory: String
    ) {
        self.pushServices = pushServices
        self.maximumEventBytes = maximumEventBytes
        self.users = users
        self.uploadLimit = uploadLimit
        self.directory = directory
    }
}

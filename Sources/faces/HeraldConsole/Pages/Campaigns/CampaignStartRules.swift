package import HeraldEvents
package import HeraldText

/// The settings for new campaigns and their uploaded files.
package struct CampaignStartRules: Sendable {
    package var pushServices: PushServices
    /// `limits.eventBytes`.
    package var maximumEventBytes: Int
    /// `backend.users`.
    package var users: UserRule
    /// The size limit of an uploaded file in bytes.
    package var uploadLimit: Int
    /// The directory of uploaded files, which have no names.
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

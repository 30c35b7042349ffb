package import HeraldEvents

/// What the settings say of new campaigns and of files that are uploaded for them.
package struct CampaignStartRules: Sendable {
    package var pushServices: PushServices
    /// `limits.eventBytes`.
    package var maximumEventBytes: Int
    /// The most bytes of an uploaded file.
    package var uploadLimit: Int
    /// Where uploaded files lie, without names.
    package var directory: String

    package init(pushServices: PushServices, maximumEventBytes: Int, uploadLimit: Int, directory: String) {
        self.pushServices = pushServices
        self.maximumEventBytes = maximumEventBytes
        self.uploadLimit = uploadLimit
        self.directory = directory
    }
}

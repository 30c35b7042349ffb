package import HeraldEvents
package import HeraldKafka

/// A cluster and a group, as the commands on offsets see them.
package struct OffsetContext: Sendable {
    package var topics: Topics
    package var pushServices: PushServices
    package var group: String
    /// librdkafka's properties of a `read_uncommitted` reader with the group's `group.id`.
    package var surveyProperties: ClientProperties
    /// librdkafka's properties of a `read_committed` reader of millions of records, with the group's `group.id`.
    package var readerProperties: ClientProperties
    /// librdkafka's properties of a transactional writer; its `transactional.id` comes on top.
    package var writerProperties: ClientProperties
    /// Who does it, for the audit topic.
    package var operatorName: String

    package init(
        topics: Topics, pushServices: PushServices, group: String, surveyProperties: ClientProperties,
        readerProperties: ClientProperties, writerProperties: ClientProperties, operatorName: String
    ) {
        self.topics = topics
        self.pushServices = pushServices
        self.group = group
        self.surveyProperties = surveyProperties
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
        self.operatorName = operatorName
    }
}

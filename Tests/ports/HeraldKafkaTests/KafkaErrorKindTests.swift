import HeraldKafka
import Testing

@Suite("The meaning of errors")
struct KafkaErrorKindTests {
    @Test(
        "Each code has one meaning, and other codes have none",
        arguments: [
            (KafkaError.Code.timedOut, .unreachable), (KafkaError.Code.allBrokersDown, .unreachable),
            (KafkaError.Code.saslAuthenticationFailed, .refusedCredentials),
            (KafkaError.Code.groupAuthorizationFailed, .forbidden),
            (KafkaError.Code.transactionalIDAuthorizationFailed, .forbidden), (KafkaError.Code.fenced, .fenced),
            (KafkaError.Code.unknownTopic, .unknownTopic), (KafkaError.Code.autoOffsetReset, .offsetGone),
            (KafkaError.Code.recordListTooLarge, .tooLarge), (KafkaError.Code.invalidTimestamp, .invalidRecord),
            (KafkaError.Code.policyViolation, .invalidRecord), (KafkaError.Code.notCoordinator, .settling),
            (KafkaError.Code.unsupportedFeature, .unsupported), (KafkaError.Code.queueFull, .other),
        ] as [(Int32, KafkaError.Kind)])
    func kind(code: Int32, kind: KafkaError.Kind) {
        #expect(KafkaError(code: code).kind == kind)
    }

    @Test("An error that the next attempt would repeat is lasting; a partition that is not known yet is not")
    func lasting() {
        #expect(KafkaError(code: KafkaError.Code.messageSizeTooLarge).isLasting)
        #expect(KafkaError(code: KafkaError.Code.topicAuthorizationFailed).isLasting)
        #expect(!KafkaError(code: KafkaError.Code.unknownPartition).isLasting)
        #expect(!KafkaError(code: KafkaError.Code.timedOut).isLasting)
    }

    @Test("Only forbidden errors have advice, which names operations and resources in the words of kafka-acls")
    func advice() {
        let permission = KafkaPermission(.write, on: .transactionalID("w"), .topic("a"), .topic("b"))
        #expect(
            KafkaError(code: KafkaError.Code.topicAuthorizationFailed).advice(permission)
                == "; allow Write on the transactional id w, the topic a and the topic b with kafka-acls")
        #expect(KafkaError(code: KafkaError.Code.timedOut).advice(permission).isEmpty)
        #expect(
            "\(KafkaPermission(.describe, .describeConfigs, on: .group("g")))"
                == "allow Describe and DescribeConfigs on the group g with kafka-acls")
        #expect(
            "\(KafkaPermission(.write, on: .transactionalIDs(prefix: "herald-")))"
                == "allow Write on transactional ids that begin with herald- with kafka-acls "
                + "--resource-pattern-type prefixed")
    }

    @Test("A permission is the command that grants it, word for word")
    func command() {
        #expect(
            KafkaPermission(.write, .describe, on: .topic("a"), .transactionalIDs(prefix: "w")).command
                == "kafka-acls --add --allow-principal User:NAME --operation Write --operation Describe "
                + "--topic a --transactional-id w --resource-pattern-type prefixed")
        #expect(
            KafkaPermission(.read, on: .group("g")).command
                == "kafka-acls --add --allow-principal User:NAME --operation Read --group g")
    }

    @Test(
        "Offsets are refused unless the member is of the group's current generation",
        arguments: [
            (KafkaError.Code.illegalGeneration, true), (KafkaError.Code.unknownMemberID, true),
            (KafkaError.Code.assignmentLost, true), (KafkaError.Code.fencedInstanceID, true),
            (KafkaError.Code.fenced, false), (KafkaError.Code.timedOut, false),
        ])
    func membership(code: Int32, isOfMembership: Bool) {
        #expect(KafkaError(code: code).isOfMembership == isOfMembership)
    }
}

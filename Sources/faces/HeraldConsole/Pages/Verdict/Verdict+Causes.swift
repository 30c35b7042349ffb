import HeraldEvents

/// Which findings follow from which others: one cause is one finding, and one entry of the last day.
extension Verdict {
    private struct Chain {
        /// Any of these, the first that is found.
        var causes: Set<FindingKey>
        /// Whether every outage is such a cause, too.
        var isOutage = false
        var consequences: Set<FindingKey>
        /// Whether only findings about the same topics, partitions or brokers belong together.
        var isOfPlace = false
    }

    private static let standstill: Set<FindingKey> = [
        .noProgress, .stuck, .partitionStuck, .lagGrowing, .oldest, .rebalance, .noMember, .unassigned,
    ]

    /// What lies deepest comes first.
    private static let chains = [
        Chain(
            causes: [.brokersUnreachable, .tooFewBrokers, .partitionsWithoutLeader, .loginFailed, .topicsMissing],
            consequences: standstill.union([
                .brokersUnreachable, .tooFewBrokers, .partitionsWithoutLeader, .commitsFailing, .recordsRefused,
                .groupRefuses, .groupUntold, .lettersUnread, .silentWorker, .consoleBrokers, .starting,
            ])),
        Chain(
            causes: [.recordsRefused, .commitsFailing],
            consequences: standstill.union([.recordsRefused, .commitsFailing])),
        // A topic that is not as the settings want refuses what they allow: one thing is to be done about both.
        Chain(causes: [.recordsRefused, .recordRefused], consequences: [.topicsDrift], isOfPlace: true),
        Chain(causes: [.noWorker, .groupRefuses], consequences: standstill),
        Chain(
            causes: [.backendUnreachable], isOutage: true,
            consequences: standstill.union([.backendUnreachable, .pushServiceFailing, .callsFail, .campaignDead])),
        Chain(causes: [.noProgress, .stuck], consequences: standstill),
        Chain(causes: [.partitionStuck, .noMember], consequences: [.lagGrowing, .oldest]),
    ]

    /// The findings, of which those that follow from another stand with that one; the worst first.
    ///
    /// A cause is as bad as what follows from it: a warning explains nothing that is worse.
    static func folded(_ findings: [ToldFinding]) -> [ToldFinding] {
        var left = findings
        for chain in chains {
            guard let cause = left.first(where: { isCause($0, in: chain) }) else { continue }
            let consequences = left.filter { one in
                one.key != cause.key && (cause.finding.severity == .bad || one.finding.severity != .bad)
                    && FindingKey(rawValue: one.finding.key).map(chain.consequences.contains) ?? false
                    && (!chain.isOfPlace || !Set(one.finding.place).isDisjoint(with: cause.finding.place))
            }
            left.removeAll { one in consequences.contains { $0.key == one.key } }
            guard let index = left.firstIndex(where: { $0.key == cause.key }) else { continue }
            left[index].consequences += consequences
            left[index].waiting = cause.waiting ?? consequences.compactMap(\.waiting).max()
        }
        return left
    }

    private static func isCause(_ told: ToldFinding, in chain: Chain) -> Bool {
        if let key = FindingKey(rawValue: told.finding.key) { return chain.causes.contains(key) }
        return chain.isOutage && told.finding.isOutage
    }
}

package import HeraldEvents
package import HeraldTime

/// What was said about events that a lane may not have, for commands and the console: by the rule of lanes' calls.
extension LastWord {
    /// Why an event is not called on a push service.
    package enum Ending: Sendable, Equatable {
        case recalled
        /// The user has opted out of this, as `optOut` has it: `promotional`.
        case optedOut(String)
    }

    /// Why an event, named as its records have it, is not called on a push service; `nil` when nobody has said so.
    ///
    /// - Parameters:
    ///   - eventClass: The stricter one of its topic's and its own.
    ///   - service: The push service's place among those of this table.
    package func ending(
        id: String?, user: String, source: String?, campaign: String?, of eventClass: EventClass, on service: Int
    ) -> Ending? {
        func hash(_ text: String?) -> UInt64 { text.map { ByteHash.hash($0.utf8.span.bytes, seed: seed) } ?? 0 }
        let (userHash, sourceHash) = (hash(user), hash(source))
        let said = said(
            identity: Self.identity(
                id: (id ?? "").utf8.span.bytes, source: sourceHash, user: userHash, seed: seed),
            user: wordHash(user: userHash, kept: keptHash(of: user.utf8.span.bytes)), source: sourceHash,
            campaign: campaign.map { Campaigns.hash($0.utf8.span.bytes, seed: seed) } ?? 0, of: eventClass,
            to: service)
        switch said {
        case .suppressed(.recalled): return .recalled
        case .suppressed(.optedOut(.all)): return .optedOut("all")
        case .suppressed(.optedOut(.promotional)): return .optedOut("promotional")
        case .suppressed(.optedOut(.pushService)): return .optedOut("pns:\(names.names[service])")
        case .suppressed(.optedOut(.source)): return .optedOut("source:\(source ?? "")")
        // Whether hours or a cap end it shows only at its time.
        case .suppressed, .quiet, nil: return nil
        }
    }
}

extension QuietHours {
    /// The end of the hours in which a moment lies, by the rule of lanes' calls; `nil` outside of them.
    ///
    /// - Parameter zone: the user's, whatever the hours name.
    package func end(around moment: WallTime, in zone: ZoneRules) -> WallTime? {
        QuietWindow(self, QuietRules()).end(around: moment, in: zone, spread: .zero)
    }
}

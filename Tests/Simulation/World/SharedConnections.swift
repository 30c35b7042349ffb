import HeraldCore
import HeraldEvents

/// A client's connections to the backend over HTTP/2, each of which carries many calls and may end with all of them.
///
/// A connection's end is decided when it is made, so a call's outcome is known when it begins. The engine does not hear
/// of a GOAWAY (RFC 9113, 6.8) and a refused stream, because the pool repeats an unprocessed call: the call only takes
/// longer, or fails in the end as one that has not arrived.
struct SharedConnections {
    /// The pool's limit of calls on a connection (`SharedConnections.placesLimit` of HeraldHTTP).
    static let most = 16

    private enum End: CaseIterable {
        /// All of its calls are lost.
        case reset
        /// The other side is silent: every call on it waits for its deadline.
        case hangs
        /// The other side leaves: calls that it has not begun are repeated.
        case goesAway
    }

    private struct Connection {
        var calls = 0
        var end: (at: Int64, how: End)?
    }

    /// The share, in millionths, of connections that end while calls are on them.
    private let losses: Int
    private var connections: [Connection] = []
    private var placeOf: [CallToken: Int] = [:]

    init(losses: Int) { self.losses = losses }

    /// Puts a call on a connection; returns its outcome there, and the time until then, if it would be answered with
    /// `result` after `after` milliseconds.
    mutating func carry(
        _ token: CallToken, _ result: CallResult, after: Int64, now: Int64, chance: inout Chance
    ) -> (result: CallResult, after: Int64) {
        guard losses > 0 else { return (result, after) }
        let place = self.place(now: now, chance: &chance)
        connections[place].calls += 1
        placeOf[token] = place
        guard let end = connections[place].end, now + after >= end.at else { return (result, after) }
        switch end.how {
        case .reset:
            return (CallResult(failure: .reset, mayHaveArrived: chance.below(2) == 0), end.at - now)
        case .hangs:
            return (CallResult(failure: .timeout, mayHaveArrived: true), SimulatedBackend.timeout)
        case .goesAway:
            switch chance.below(8) {
            // It was begun, and the other side left before its end.
            case 0: return (CallResult(failure: .reset, mayHaveArrived: true), end.at - now)
            // It was refused repeatedly.
            case 1: return (CallResult(failure: .reset), end.at - now + chance.between(1, 80))
            default: return (result, after + chance.between(1, 160))
            }
        }
    }

    /// Ends the call.
    mutating func release(_ token: CallToken) {
        guard let place = placeOf.removeValue(forKey: token) else { return }
        connections[place].calls -= 1
    }

    /// An open connection with room, the fullest first, or a new one.
    private mutating func place(now: Int64, chance: inout Chance) -> Int {
        let open = connections.indices.filter {
            connections[$0].calls < Self.most && connections[$0].end.map { $0.at > now } ?? true
        }
        if let place = open.max(by: { connections[$0].calls < connections[$1].calls }) { return place }
        var connection = Connection()
        if chance.happens(losses) {
            connection.end = (now + chance.between(1, 2_000), chance.pick(End.allCases))
        }
        if let place = connections.indices.first(where: { connections[$0].calls == 0 }) {
            connections[place] = connection
            return place
        }
        connections.append(connection)
        return connections.count - 1
    }
}

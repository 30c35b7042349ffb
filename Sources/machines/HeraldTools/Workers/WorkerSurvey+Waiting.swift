internal import HeraldBytes
package import HeraldEvents

extension WorkerSurvey {
    /// The longest answer of `/waiting`: a hundred events, each with a line for each push service.
    private static let waitingLimit = 4 << 20

    /// Why a worker's events wait.
    ///
    /// Blocks for ``patience`` at most.
    ///
    /// - Parameter token: what `admin.token` wants to be shown; `nil` shows none.
    package static func waiting(
        _ query: WaitingQuery, at address: String, token: String?
    ) -> Result<WaitingPage, Silence> {
        answer("/waiting", "?" + parameters(of: query), of: address, limit: waitingLimit, patience, token: token) {
            switch $0 {
            case 401:
                Silence(
                    reason: "it wants the token of admin.token, which is shown on this machine and to workers in "
                        + "console.workers alone")
            case 404: Silence(reason: "an older worker, which does not say why events wait")
            default: nil
            }
        }
    }

    private static func parameters(of query: WaitingQuery) -> String {
        let values = [("event", query.id), ("user", query.user), ("record", query.origin.map { "\($0)" })]
        return values.compactMap { name, value in
            guard let value else { return nil }
            var text = Array("\(name)=".utf8)
            PercentEncoding.append(Array(value.utf8).span.bytes, to: &text)
            return String(decoding: text, as: UTF8.self)
        }.joined(separator: "&")
    }
}

internal import HeraldBytes
import HeraldHTTP
import HeraldText

/// The selection of a list of registrations and the position where it continues.
struct RegistrationQuery: Sendable {
    static let pageLimit = 100
    private static let tokenName = "nextRow="

    var tag: String?
    var handle: String?
    var count = Self.pageLimit
    /// The number of the previous page's last registration.
    var behind = 0

    init(_ target: HTTPTarget, tag: String? = nil) throws(InvalidArgument) {
        self.tag = tag
        for parameter in target.parameters {
            switch parameter.name.lowercased() {
            case "$top":
                guard let number = Int(parameter.value), number > 0 else {
                    throw InvalidArgument("$top is no number above 0: \(parameter.value)")
                }
                count = min(number, Self.pageLimit)
            case "$filter": handle = try Self.handle(parameter.value)
            case "continuationtoken":
                // A client that does not decode the header encodes its value once more.
                let token = parameter.value.replacing("%3D", with: "=")
                guard token.hasPrefix(Self.tokenName), let number = Int(token.dropFirst(Self.tokenName.count))
                else { throw InvalidArgument("the continuation token is not from this hub") }
                behind = number
            default: break
            }
        }
    }

    /// The address of the next page.
    ///
    /// - Parameters:
    ///   - list: the address of the list, without a query.
    ///   - token: percent-encoded, as in the answer's header.
    func address(_ list: String, _ token: String) -> String {
        let quoted = handle.map { $0.replacing("'", with: "''") }
        let filter = quoted.map { "&%24filter=" + PercentEncoding.encoded("ChannelUri eq '\($0)'") } ?? ""
        let place = PercentEncoding.encoded(token)
        return "\(list)?api-version=2020-06&%24top=\(count)\(filter)&continuationtoken=\(place)"
    }

    /// The continuation token after a registration, percent-encoded as the service does.
    static func token(behind number: Int) -> String { "nextRow%3D\(number)" }

    /// The handle in `FIELD eq 'HANDLE'`; `ChannelUri` stands for the field of every push service.
    private static func handle(_ filter: String) throws(InvalidArgument) -> String {
        let words = filter.split(separator: " ", maxSplits: 2).map(String.init)
        let fields = HubPlatform.allCases.map { $0.identity.lowercased() }
        guard words.count == 3, fields.contains(words[0].lowercased()), words[1].lowercased() == "eq",
            words[2].count >= 2, words[2].hasPrefix("'"), words[2].hasSuffix("'")
        else { throw InvalidArgument("$filter must be like ChannelUri eq 'HANDLE'") }
        return words[2].dropFirst().dropLast().split(separator: "''", omittingEmptySubsequences: false)
            .joined(separator: "'")
    }
}

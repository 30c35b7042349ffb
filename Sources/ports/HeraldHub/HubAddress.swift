internal import Foundation

package enum HubAddress {
    /// Collections whose own address ends in their name.
    private static let collections = [
        "registrationids", "registrations", "messages", "schedulednotifications", "$batch",
    ]

    /// `ID` of `https://NS/HUB/registrationids/ID?api-version=…`; `nil` when the address names a collection alone.
    package static func id(in address: String) -> String? {
        var path = address.prefix { $0 != "?" && $0 != "#" }
        if path.hasSuffix("/") { path.removeLast() }
        guard let slash = path.lastIndex(of: "/"), let id = path[path.index(after: slash)...].removingPercentEncoding,
            !id.isEmpty, !collections.contains(id.lowercased())
        else { return nil }
        return id
    }
}

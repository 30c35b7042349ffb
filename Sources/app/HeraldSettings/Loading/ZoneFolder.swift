internal import FoundationEssentials
package import HeraldText
package import HeraldTime

/// Reads the time zones of the system's tz database, which Debian's package tzdata keeps up to date.
package enum ZoneFolder {
    /// Where Debian has it.
    package static let path = "/usr/share/zoneinfo"
    private static let longestFile = 1 << 20
    /// The same zones again, the second with leap seconds.
    private static let repeated = ["posix/", "right/"]
    /// The machine's own zone, another one on each, and what stands there before one is chosen: no user's.
    private static let ofMachine: Set<String> = ["localtime", "posixrules", "Factory"]

    /// All zones by their names, as `Europe/Berlin`; files that are no zone's are passed over.
    ///
    /// - Throws: An error phrased to follow the folder's name, when there is no zone.
    package static func read(_ path: String = path) throws(InputError) -> TimeZones {
        var zones: [String: ZoneRules] = [:]
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        where !repeated.contains(where: name.hasPrefix) && !ofMachine.contains(name) {
            guard let bytes = try? BoundedFile.read("\(path)/\(name)", limit: longestFile),
                let rules = try? ZoneFile.rules(bytes.span.bytes)
            else { continue }
            zones[name] = rules
        }
        guard !zones.isEmpty else { throw InputError("holds no time zones, which Debian's package tzdata brings") }
        return TimeZones(zones)
    }
}

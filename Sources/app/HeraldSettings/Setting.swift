package import HeraldText

/// The time at which a change in the file takes effect in a running worker.
package enum SettingReload: Sendable, Equatable {
    case needsRestart
    case live
    /// After a SIGHUP, unless the setting at this path, on which it depends, has changed too and needs a restart.
    case liveBeside(String)

    var isLive: Bool { self != .needsRestart }
}

/// One declared setting: all information for loading, checking and documentation.
package struct Setting<Value: Sendable & Equatable>: AnySetting {
    package let path: String
    package let summary: String
    package let standardText: String?
    /// Its value when no source sets it.
    let standard: Value
    let type: SettingType<Value>
    package let reload: SettingReload

    /// A setting that always has a value; `standard` is the default as written in a flag.
    init(
        _ path: String, _ type: SettingType<Value>, default standard: String, _ summary: String,
        reload: SettingReload = .needsRestart
    ) {
        var report = SettingsReport(source: .standard, path: path)
        guard let value = type.decode(SettingNode(texts: [standard], shape: type.traits.shape), &report) else {
            preconditionFailure("the default of \(path) is refused: \(report.mistakes)")
        }
        (self.path, self.type, self.summary, self.reload) = (path, type, summary, reload)
        (self.standard, standardText) = (value, standard)
    }

    init<Present>(
        _ path: String, optional type: SettingType<Present>, _ summary: String, reload: SettingReload = .needsRestart
    ) where Value == Present? {
        (self.path, self.type, self.summary, self.reload) = (path, type.optional, summary, reload)
        (standard, standardText) = (nil, nil)
    }

    package var traits: SettingTraits { type.traits }
    package var standardValue: any Sendable { standard }

    package func decode(_ node: SettingNode, _ report: inout SettingsReport) -> (any Sendable)? {
        type.decode(node, &report)
    }

    package func show(_ value: any Sendable) -> JSONValue { (value as? Value).map(type.show) ?? .null }

    package func isSame(_ left: any Sendable, _ right: any Sendable) -> Bool { left as? Value == right as? Value }
}

/// A setting with its value's type hidden, for the table.
package protocol AnySetting: Sendable {
    /// Its name, `retry.maxElapsed`.
    var path: String { get }
    /// Its effect, in one sentence.
    var summary: String { get }
    /// The default as written in a flag; nil when the setting may be absent.
    var standardText: String? { get }
    /// The type of its values.
    var traits: SettingTraits { get }
    /// The time at which a change takes effect.
    var reload: SettingReload { get }
    /// The default, decoded; `Optional.none` when the setting may be absent.
    var standardValue: any Sendable { get }
    /// Reads a value of the right type; nil with a mistake in the report.
    func decode(_ node: SettingNode, _ report: inout SettingsReport) -> (any Sendable)?
    /// A value from ``decode(_:_:)`` for display, without secrets.
    func show(_ value: any Sendable) -> JSONValue
    /// Whether two values from ``decode(_:_:)`` are equal, secrets included.
    func isSame(_ left: any Sendable, _ right: any Sendable) -> Bool
}

extension AnySetting {
    /// The variable that sets it, `HERALD_RETRY_MAX_ELAPSED`.
    var variable: String { SettingNames.variable(path) }

    /// The flag that sets it, without dashes, `retry-max-elapsed`.
    package var flag: String { SettingNames.flag(path) }

    /// The default as help shows it; nil when it is absent or nothing.
    package var shownStandard: String? { standardText == "" ? nil : standardText }

    /// Its effect, for documents, with a mark if it is live.
    var documentation: String { reload.isLive ? summary + " *Live.*" : summary }
}

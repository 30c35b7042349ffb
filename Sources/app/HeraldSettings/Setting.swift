import HeraldText

/// The time at which a change in the file takes effect in a running worker.
enum SettingReload: Sendable, Equatable {
    case needsRestart
    /// After a SIGHUP.
    case live
    /// After a SIGHUP, unless the setting at this path, on which it depends, has changed too and needs a restart.
    case liveBeside(String)

    var isLive: Bool { self != .needsRestart }
}

/// One declared setting: all information for loading, checking and documentation.
package struct Setting<Value: Sendable>: AnySetting {
    let path: String
    let summary: String
    let standardText: String?
    let traits: SettingTraits
    let reload: SettingReload
    private let decodeAny: @Sendable (SettingNode, inout SettingsReport) -> (any Sendable)?
    private let showAny: @Sendable (any Sendable) -> JSONValue
    private let isSameAny: @Sendable (any Sendable, any Sendable) -> Bool
    private let unpack: @Sendable ((any Sendable)?) -> Value?

    /// A setting that always has a value; `standard` is the default as written in a flag.
    init(
        _ path: String, _ type: SettingType<Value>, default standard: String, _ summary: String,
        reload: SettingReload = .needsRestart
    ) where Value: Equatable {
        self.init(path, type, standard, summary, reload) { $0 as? Value }
    }

    /// A setting that may be absent.
    init<Present: Sendable & Equatable>(
        _ path: String, optional type: SettingType<Present>, _ summary: String, reload: SettingReload = .needsRestart
    ) where Value == Present? {
        self.init(path, type, nil, summary, reload) { .some($0 as? Present) }
    }

    private init<Present: Sendable & Equatable>(
        _ path: String, _ type: SettingType<Present>, _ standard: String?, _ summary: String, _ reload: SettingReload,
        unpack: @escaping @Sendable ((any Sendable)?) -> Value?
    ) {
        self.path = path
        self.summary = summary
        self.reload = reload
        standardText = standard
        traits = type.traits
        decodeAny = { [decode = type.decode] node, report in decode(node, &report) }
        showAny = { [show = type.show] value in (value as? Present).map(show) ?? .null }
        isSameAny = { left, right in
            guard let left = left as? Present, let right = right as? Present else { return false }
            return left == right
        }
        self.unpack = unpack
    }

    func decode(_ node: SettingNode, _ report: inout SettingsReport) -> (any Sendable)? { decodeAny(node, &report) }

    func show(_ value: any Sendable) -> JSONValue { showAny(value) }

    func isSame(_ left: any Sendable, _ right: any Sendable) -> Bool { isSameAny(left, right) }

    /// The stored value in its own type; nil only when a setting with a default has none.
    func typed(_ stored: (any Sendable)?) -> Value? { unpack(stored) }
}

/// A setting with its value's type hidden, for the table.
protocol AnySetting: Sendable {
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
    var flag: String { SettingNames.flag(path) }

    /// Its effect, for documents, with a mark if it is live.
    var documentation: String { reload.isLive ? summary + " *Live.*" : summary }

    /// The default, decoded.
    ///
    /// A default that does not decode is a mistake in the table, which the first load finds.
    var standardValue: (any Sendable)? {
        guard let standardText else { return nil }
        var report = SettingsReport(source: .standard, path: path)
        guard let value = decode(SettingNode(texts: [standardText], shape: traits.shape), &report) else {
            preconditionFailure("the default of \(path) is refused: \(report.mistakes)")
        }
        return value
    }
}

import HeraldText

/// One declared setting: everything that anybody needs to know about it.
package struct Setting<Value: Sendable>: AnySetting {
    let path: String
    let summary: String
    let standardText: String?
    let traits: SettingTraits
    private let decodeAny: @Sendable (SettingNode, inout SettingsReport) -> (any Sendable)?
    private let showAny: @Sendable (any Sendable) -> JSONValue
    private let unpack: @Sendable ((any Sendable)?) -> Value?

    /// A setting that always has a value; `standard` is the default as a flag would write it.
    init(_ path: String, _ type: SettingType<Value>, default standard: String, _ summary: String) {
        self.init(path, type, standard, summary) { $0 as? Value }
    }

    /// A setting that may be absent.
    init<Present: Sendable>(_ path: String, optional type: SettingType<Present>, _ summary: String)
    where Value == Present? {
        self.init(path, type, nil, summary) { .some($0 as? Present) }
    }

    private init<Present: Sendable>(
        _ path: String, _ type: SettingType<Present>, _ standard: String?, _ summary: String,
        unpack: @escaping @Sendable ((any Sendable)?) -> Value?
    ) {
        self.path = path
        self.summary = summary
        standardText = standard
        traits = type.traits
        decodeAny = { [decode = type.decode] node, report in decode(node, &report) }
        showAny = { [show = type.show] value in (value as? Present).map(show) ?? .null }
        self.unpack = unpack
    }

    func decode(_ node: SettingNode, _ report: inout SettingsReport) -> (any Sendable)? { decodeAny(node, &report) }

    func show(_ value: any Sendable) -> JSONValue { showAny(value) }

    /// The stored value in its own type; nil only when a setting with a default has none.
    func typed(_ stored: (any Sendable)?) -> Value? { unpack(stored) }
}

/// A setting whose value's type is hidden, as the table lists it.
protocol AnySetting: Sendable {
    /// Its name, `retry.maxElapsed`.
    var path: String { get }
    /// What it does, in one sentence.
    var summary: String { get }
    /// The default as a flag would write it; nil when the setting may be absent.
    var standardText: String? { get }
    /// What its values are.
    var traits: SettingTraits { get }
    /// Reads a value of the right type; nil with a mistake in the report.
    func decode(_ node: SettingNode, _ report: inout SettingsReport) -> (any Sendable)?
    /// A value that ``decode(_:_:)`` gave, without secrets.
    func show(_ value: any Sendable) -> JSONValue
}

extension AnySetting {
    /// The variable that sets it, `HERALD_RETRY_MAX_ELAPSED`.
    var variable: String { SettingNames.variable(path) }

    /// The flag that sets it, without dashes, `retry-max-elapsed`.
    var flag: String { SettingNames.flag(path) }

    /// The default, decoded.
    ///
    /// The table is wrong when it does not decode; the first load finds that.
    var standardValue: (any Sendable)? {
        guard let standardText else { return nil }
        var report = SettingsReport(source: .standard, path: path)
        guard let value = decode(SettingNode(texts: [standardText], shape: traits.shape), &report) else {
            preconditionFailure("the default of \(path) is refused: \(report.mistakes)")
        }
        return value
    }
}

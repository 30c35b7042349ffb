/// The place of one source's value, and the mistakes found in reading it.
struct SettingsReport {
    /// One of the sources, and its way of naming a value's place.
    enum Source {
        case standard
        case file(name: String)
        case environment(variable: String)
        case flag(name: String)
    }

    private(set) var mistakes: [SettingsMistake] = []
    private(set) var source: Source
    private(set) var path: String

    init(source: Source, path: String = "") {
        self.source = source
        self.path = path
    }

    /// Notes a mistake at `node`; `detail` is appended to the setting's path (`[2]`, `.name`).
    mutating func refuse(_ node: SettingNode, _ detail: String = "", _ message: String) {
        refuse(at: node.position, path + detail, message)
    }

    /// Notes a mistake at a position of the source.
    mutating func refuse(at position: SettingNode.Position?, _ path: String, _ message: String) {
        mistakes.append(SettingsMistake(place: place(of: position), path: path, message: message))
    }

    /// A report of the same source for a part of the value; ``add(_:)`` collects its mistakes.
    func inside(_ detail: String) -> Self { Self(source: source, path: path + detail) }

    mutating func add(_ inner: Self) { mistakes += inner.mistakes }

    func place(of position: SettingNode.Position?) -> SettingsPlace {
        switch source {
        case .standard: .standard
        case .file(let name): .file(name: name, line: position?.line ?? 1, column: position?.column ?? 1)
        case .environment(let variable): .environment(variable)
        case .flag(let name): .flag(name)
        }
    }
}

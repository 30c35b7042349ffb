/// The place of one source's value, and the mistakes found in reading it.
package struct SettingsReport {
    private(set) var mistakes: [SettingsMistake] = []
    private let source: SettingsPlace
    let path: String

    init(source: SettingsPlace, path: String = "") {
        self.source = source
        self.path = path
    }

    /// Notes a mistake at `node`; `detail` is appended to the setting's path (`[2]`, `.name`).
    mutating func refuse(_ node: SettingNode, _ detail: String = "", _ message: String) {
        refuse(at: node.position, path + detail, message)
    }

    mutating func refuse(at position: SettingNode.Position?, _ path: String, _ message: String) {
        mistakes.append(SettingsMistake(place: place(of: position), path: path, message: message))
    }

    /// A report of the same source for a part of the value; ``add(_:)`` collects its mistakes.
    func inside(_ detail: String) -> Self { Self(source: source, path: path + detail) }

    mutating func add(_ inner: Self) { mistakes += inner.mistakes }

    func place(of position: SettingNode.Position?) -> SettingsPlace {
        guard case .file(let name, let line, let column) = source else { return source }
        return .file(name: name, line: position?.line ?? line, column: position?.column ?? column)
    }
}

import HeraldHub

/// The members of an element as .NET's `DataContractSerializer` reads them, which the service is written with.
///
/// They have an order. An element out of its place, one that no contract has, and one of another namespace are skipped
/// without a word.
struct DataContract {
    private var elements: [String: XMLElement] = [:]

    /// - Parameter fields: the names of the members, in their order.
    init(_ element: XMLElement, namespace: String, fields: [String]) {
        var rest = fields[...]
        for child in element.children where child.namespace == namespace {
            guard let place = rest.firstIndex(of: child.name) else { continue }
            elements[child.name] = child
            rest = rest[(place + 1)...]
        }
    }

    /// A member that came.
    subscript(_ field: String) -> XMLElement? { elements[field] }

    /// The text of a member; absent, empty and `i:nil="true"` are the same.
    func text(_ field: String) -> String? {
        guard let element = elements[field], !element.isNil, !element.text.isEmpty else { return nil }
        return element.text
    }
}

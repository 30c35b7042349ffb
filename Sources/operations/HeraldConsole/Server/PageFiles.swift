internal import CConsolePage
internal import HeraldHTTP

/// The page's files, which are part of the program.
enum PageFiles {
    /// The places that the page itself shows.
    private static let places: Set<String> = ["", "now", "failures", "find", "campaigns", "audit", "runbook"]

    /// The file that a path means; `nil` when there is none.
    static func response(_ segments: [String]) -> HTTPResponse? {
        if let first = segments.first, places.contains(first) { return file("index.html") }
        return file(segments.joined(separator: "/"))
    }

    /// The names of all.
    static var names: [String] { (0..<herald_page_count()).map { String(cString: herald_page_file($0).name) } }

    private static func file(_ name: String) -> HTTPResponse? {
        for index in 0..<herald_page_count() {
            let file = herald_page_file(index)
            guard String(cString: file.name) == name else { continue }
            return HTTPResponse(
                status: 200, headers: ["Content-Type": type(of: name)],
                body: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
        }
        return nil
    }

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "md": "text/markdown; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }
}

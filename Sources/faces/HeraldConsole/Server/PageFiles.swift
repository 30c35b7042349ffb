internal import CConsolePage
internal import HeraldHTTP

/// The page's files, embedded in the program.
enum PageFiles {
    /// The file at a path; `nil` when there is none.
    ///
    /// A page's name, with any segments after it, returns the frame: there the page finds its place.
    static func response(_ segments: [String]) -> HTTPResponse? {
        guard let first = segments.first else { return nil }
        if first.isEmpty || pages.contains(first) { return file("Frame/index.html") }
        return segments == ["pages.css"] ? styles : file(segments.joined(separator: "/"))
    }

    /// The pages' names: each has a folder with its script, `Pages/Find/find.js`.
    static var pages: [String] {
        names.compactMap { name in
            let parts = name.split(separator: "/")
            guard parts.count == 3, parts[0] == "Pages", parts[2] == parts[1].lowercased() + ".js" else { return nil }
            return parts[1].lowercased()
        }
    }

    private static var styles: HTTPResponse {
        let files = names.filter { $0.hasPrefix("Pages/") && $0.hasSuffix(".css") }
        return HTTPResponse(
            status: 200, headers: ["Content-Type": type(of: "pages.css")], body: files.flatMap { file($0)?.body ?? [] })
    }

    static var names: [String] { (0..<herald_page_count()).map { String(cString: herald_page_file($0).name) } }

    private static func file(_ name: String) -> HTTPResponse? {
        for index in 0..<herald_page_count() {
            let file = herald_page_file(index)
            guard String(cString: file.name) == name else { continue }
            return HTTPResponse(
                status: 200, headers: ["Content-Type": type(of: name)],
                body: Array(UnsafeBufferPointer(start: file.bytes, count: herald_page_size(file))))
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

import Glibc

/// Reads whole files, up to a limit; pipes too.
enum BoundedFile {
    /// Why a file was not read, to stand behind its name.
    struct Failure: Error {
        let reason: String
    }

    static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(reason: "cannot be read: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw Failure(reason: "cannot be read: \(String(cString: strerror(errno)))")
            }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw Failure(reason: "is larger than \(limit) bytes") }
        }
    }
}

import Glibc
package import HeraldText

/// Reads whole files and pipes, up to a limit.
///
/// Errors are phrased to follow the file's name.
package enum BoundedFile {
    package static func read(_ path: String, limit: Int) throws(InputError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw InputError("cannot be read: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw InputError("cannot be read: \(String(cString: strerror(errno)))")
            }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw InputError("is larger than \(limit) bytes") }
        }
    }
}

internal import HeraldText
internal import HeraldThreads
internal import HeraldTools

/// Files that browsers send in pieces: bounded in size and number, readable by this process alone, and forgotten after
/// an hour.
///
/// | an upload is | until |
/// |---|---|
/// | open | all its declared bytes have come, each piece right behind the former |
/// | complete | it is discarded, as a file that is refused is at once, or not used for the lifetime |
/// | in the way | all places are taken: its owner sends another one, or it was not used for the patience |
final class UploadStore: Sendable {
    struct Limits: Sendable {
        var bytes = 256 << 20
        var pieceBytes = 1 << 20
        var count = 4
        var lifetime = Duration.seconds(3_600)
        /// An upload unused for this long makes room for another.
        ///
        /// Its preview goes on, because it has the file itself.
        var patience = Duration.seconds(60)
    }

    private struct Upload {
        let name: String
        let owner: String
        let byteCount: Int
        let file: GrowingFile
        var lastUse: ContinuousClock.Instant

        var isComplete: Bool { file.byteCount == byteCount }
    }

    let limits: Limits
    private let directory: String
    private let now: @Sendable () -> ContinuousClock.Instant
    private let uploads = Guarded<[String: Upload]>([:])

    /// - Parameter directory: the directory of the files, which have no names.
    init(
        in directory: String, limits: Limits,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.directory = directory
        self.limits = limits
        self.now = now
    }

    /// Reserves room for a file; returns its key.
    func declare(name: String, byteCount: Int, owner: String) throws -> String {
        guard byteCount > 0 else { throw Refused("the file is empty", status: 400) }
        guard byteCount <= limits.bytes else {
            throw Refused(
                "the file has \(byteCount) bytes; console.uploadLimit allows \(limits.bytes). "
                    + "herald campaign start takes larger ones", status: 413)
        }
        return try uploads.withLock { uploads throws -> String in
            forget(&uploads)
            if uploads.count >= limits.count { giveWay(to: owner, &uploads) }
            guard uploads.count < limits.count else {
                throw Refused("\(limits.count) files are uploaded already; try again later", status: 429)
            }
            let key = AccessToken.random()
            uploads[key] = Upload(
                name: String(name.prefix(200)), owner: owner, byteCount: byteCount,
                file: try GrowingFile(in: directory, for: "what was uploaded"), lastUse: now())
            return key
        }
    }

    /// Appends a piece; returns the file's new size.
    ///
    /// A repeated piece is ignored.
    func append(_ bytes: [UInt8], at offset: Int, to key: String, owner: String) throws -> Int {
        guard bytes.count <= limits.pieceBytes else {
            throw Refused("a piece has \(limits.pieceBytes) bytes at most, this one \(bytes.count)", status: 413)
        }
        return try uploads.withLock { uploads throws -> Int in
            let upload = try find(key, owner, &uploads)
            let count = upload.file.byteCount
            if (0...count).contains(offset), offset + bytes.count <= count { return count }
            guard offset == count else {
                throw Refused("the next piece begins at \(count), not at \(offset)", status: 409)
            }
            guard count + bytes.count <= upload.byteCount else {
                throw Refused(
                    "the file was declared with \(upload.byteCount) bytes; this piece ends at \(count + bytes.count)",
                    status: 409)
            }
            try upload.file.append(bytes)
            return upload.file.byteCount
        }
    }

    func file(_ key: String, owner: String) throws -> (file: SpooledFile, name: String) {
        try uploads.withLock { uploads throws -> (file: SpooledFile, name: String) in
            let upload = try find(key, owner, &uploads)
            guard upload.isComplete else {
                throw Refused(
                    "only \(upload.file.byteCount) of \(upload.byteCount) bytes have been uploaded", status: 409)
            }
            return (try upload.file.finished(), upload.name)
        }
    }

    /// Forgets a file; a reader that has opened it goes on.
    func discard(_ key: String, owner: String) {
        uploads.withLock { uploads in
            if uploads[key]?.owner == owner { uploads[key] = nil }
        }
    }

    /// Forgets files unused for the lifetime.
    func sweep() { uploads.withLock { forget(&$0) } }

    func clear() { uploads.withLock { $0 = [:] } }

    var count: Int { uploads.withLock { $0.count } }

    private func find(_ key: String, _ owner: String, _ uploads: inout [String: Upload]) throws(Refused) -> Upload {
        guard let upload = uploads[key], upload.owner == owner else {
            throw Refused("this upload is not known (any more); upload the file again", status: 404)
        }
        uploads[key]?.lastUse = now()
        return upload
    }

    private func forget(_ uploads: inout [String: Upload]) {
        let moment = now()
        uploads = uploads.filter { moment - $0.value.lastUse < limits.lifetime }
    }

    /// Makes room, so that abandoned files, others' or their own, never lock a viewer out.
    private func giveWay(to owner: String, _ uploads: inout [String: Upload]) {
        let moment = now()
        let own = uploads.filter { $0.value.owner == owner && $0.value.isComplete }
        let idle = own.isEmpty ? uploads.filter { moment - $0.value.lastUse >= limits.patience } : own
        if let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) { uploads[oldest.key] = nil }
    }
}

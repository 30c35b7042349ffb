import Foundation
import Glibc
import HeraldCommandLine
import Testing

@Suite("Files that are written as a whole")
struct OutputFileTests {
    private func inDirectory(_ body: (URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "herald-output-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory)
    }

    private func names(_ directory: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    private func write(_ text: String, _ path: String, isFinished: Bool = true) throws {
        let file = try OutputFile(path)
        try file.stream.write(text)
        if isFinished { try file.finish() }
    }

    @Test("The former file stays until the new one is complete, and only the owner can read it")
    func whole() throws {
        try inDirectory { directory in
            let file = directory.appending(path: "a.csv")
            try write("first", file.path)
            try write("second", file.path, isFinished: false)
            #expect(try String(contentsOf: file, encoding: .utf8) == "first" && names(directory) == ["a.csv"])
            try write("third", file.path)
            #expect(try String(contentsOf: file, encoding: .utf8) == "third" && names(directory) == ["a.csv"])
            let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
        }
    }

    @Test("A new file replaces no other, not even one that appears while it is written")
    func new() throws {
        try inDirectory { directory in
            let file = directory.appending(path: "a.yaml")
            let late = try OutputFile(file.path, replaces: false)
            try late.stream.write("late")
            try write("first", file.path)
            #expect(throws: CommandFailure.self) { try late.finish() }
            #expect(throws: CommandFailure.self) { try OutputFile(file.path, replaces: false) }
            #expect(try String(contentsOf: file, encoding: .utf8) == "first")
            let other = directory.appending(path: "b.yaml")
            let new = try OutputFile(other.path, readers: .umask, replaces: false)
            try new.stream.write("second")
            try new.finish()
            #expect(try String(contentsOf: other, encoding: .utf8) == "second")
            let mask = umask(0)
            umask(mask)
            let permissions = try FileManager.default.attributesOfItem(atPath: other.path)[.posixPermissions] as? Int
            #expect(permissions == Int(0o666 & ~mask))
        }
    }

    @Test("A link stays a link, and a special file is written to directly")
    func links() throws {
        try inDirectory { directory in
            let (file, link) = (directory.appending(path: "real"), directory.appending(path: "link"))
            try write("first", file.path)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            try write("second", link.path)
            #expect(try String(contentsOf: file, encoding: .utf8) == "second" && names(directory) == ["link", "real"])
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.path)
            let pipe = directory.appending(path: "pipe").path
            #expect(mkfifo(pipe, 0o600) == 0)
            let reader = open(pipe, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            try write("third", pipe)
            var bytes = [UInt8](repeating: 0, count: 16)
            #expect(read(reader, &bytes, bytes.count) == 5)
        }
    }

    @Test("A link or a file in place of the temporary file is neither followed, nor emptied, nor removed")
    func planted() throws {
        try inDirectory { directory in
            let (file, victim) = (directory.appending(path: "a.csv"), directory.appending(path: "victim"))
            try "precious".write(to: victim, atomically: true, encoding: .utf8)
            let links = [".part", "-1.part"].map { "\(file.path).\(getpid())\($0)" }
            for link in links {
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim.path)
            }
            try write("first", file.path)
            #expect(try String(contentsOf: victim, encoding: .utf8) == "precious")
            #expect(try String(contentsOf: file, encoding: .utf8) == "first")
            for link in links {
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == victim.path)
            }
            #expect(try names(directory).count == 4)
        }
    }

    @Test("When every name is taken nothing is written, and nothing is removed")
    func allTaken() throws {
        try inDirectory { directory in
            let file = directory.appending(path: "a.csv")
            for number in 1...100 {
                try "mine".write(toFile: "\(file.path).\(getpid())-\(number).part", atomically: false, encoding: .utf8)
            }
            #expect(throws: CommandFailure.self) { try write("first", file.path) }
            #expect(try names(directory).count == 100)
        }
    }

    @Test("A file that cannot be written is reported before the work begins")
    func refused() {
        #expect(throws: CommandFailure.self) { _ = try OutputFile("/nowhere/at/all") }
    }
}

import CBuild
import HeraldHTTP
import HeraldHub
import HeraldKafka
import HeraldSettings

/// What `herald --version` prints: the version, the commit, and the libraries that the process runs with.
enum VersionText {
    static var lines: [String] {
        let commit = String(cString: herald_commit())
        let libraries =
            [("librdkafka", KafkaLibrary.version)] + HTTPLibraries.versions
            + [("libyaml", YAMLLibrary.version), ("libexpat", XMLLibrary.version)]
        return ["herald \(Herald.version) (\(commit.isEmpty ? "a build without a commit" : "commit \(commit)"))"]
            + libraries.map { "\($0) \($1)" }
    }
}

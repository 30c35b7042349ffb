public import Foundation

/// The sources that the tests were built from.
public enum Repository {
    /// The top folder.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL
}

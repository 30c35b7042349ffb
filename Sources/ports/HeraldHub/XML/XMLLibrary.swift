internal import CExpat

/// The C library that reads XML.
public enum XMLLibrary {
    /// The version of the libexpat that the process runs with.
    public static var version: String {
        let version = XML_ExpatVersionInfo()
        return "\(version.major).\(version.minor).\(version.micro)"
    }
}

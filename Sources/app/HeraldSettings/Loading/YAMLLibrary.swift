import CYAML

/// The C library that reads settings files.
public enum YAMLLibrary {
    /// The version of the libyaml that the process runs with.
    public static var version: String { String(cString: yaml_get_version_string()) }
}

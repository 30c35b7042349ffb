import HeraldCommandLine
import HeraldEvents

extension ValueType where Value == [String] {
    /// Names of push services; the settings say which there are, shells complete those of the default.
    static var pushServices: Self { .commaSeparated("SERVICE,…").completing(PushServices.standard.names) }
}

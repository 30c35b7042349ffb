package import HeraldCore
package import HeraldEvents
import HeraldText
import HeraldTime

extension ServiceHold {
    /// What is wrong with the push service of this name, and what to do about it.
    package func finding(_ name: String) -> Finding {
        Finding(
            .pushServiceFailing, title: "\(name) delivers nothing",
            "calls to \(name) are held since \(RFC3339.text(since)), because they were refused for many users in a row "
                + "with status \(status); its notifications wait, it is probed every \(interval.wholeSeconds) s, and the others go on",
            place: [name], since: since,
            step:
                "check \(name)'s app, credentials and certificate in the backend: the others get through; what waits is "
                + "delivered by itself, and `herald dlq replay` brings back what was rejected before",
            numbers: ["status": status, "probeSeconds": Int(interval.wholeSeconds)])
    }
}

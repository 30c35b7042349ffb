internal import HeraldText
internal import HeraldTools

/// The jobs of this console, for all pages: `/api/jobs`, and the news `jobs`.
final class JobsPart: ConsolePart {
    let jobs: Jobs

    init(news: ConsoleNews) {
        jobs = Jobs { news.publish("jobs", $0) }
    }

    var routes: [ConsoleRoute] {
        [
            .get("/api/jobs") { [jobs] _ in .json(["jobs": jobs.list]) },
            .get("/api/jobs/*") { [jobs] request in
                guard let job = jobs.object(request.parameters[0]) else {
                    throw Refused("there is no such job in this console", status: 404)
                }
                return .json(job)
            },
            .change("/api/jobs/*/*") { [jobs] request in
                guard let asked = JobRequest(rawValue: request.parameters[1]) else {
                    throw Refused("a job can be asked to stop, pause or resume", status: 404)
                }
                try jobs.ask(asked, of: request.parameters[0], by: request.viewer.name)
                return .json(jobs.object(request.parameters[0]) ?? .null)
            },
        ]
    }

    func stop() { jobs.stop() }
}

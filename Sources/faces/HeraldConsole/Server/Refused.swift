internal import HeraldKafka
internal import HeraldText
internal import HeraldTools

/// The reason for refusing a request, with its HTTP status.
struct Refused: Error, Equatable, CustomStringConvertible {
    let status: Int
    let description: String

    init(_ description: String, status: Int) {
        self.description = description
        self.status = status
    }

    init(_ error: any Error) {
        self =
            switch error {
            case let refused as Refused: refused
            case let error as InputError: Refused(error.description, status: 400)
            case let error as InvalidArgument: Refused(error.description, status: 400)
            case let failure as ToolFailure:
                Refused(failure.description, status: failure.kind == .unreachable ? 503 : 409)
            case let error as KafkaError: Refused(error.words, status: error.kind == .unreachable ? 503 : 502)
            default: Refused("\(error)", status: 500)
            }
    }
}

import HeraldHTTP
import HeraldText
import HeraldTime

extension HubNotification {
    static let batchLimit = 1_000
    /// The longest time ahead for a scheduled send.
    private static let longestWait: Milliseconds = .days(7)

    init(batch request: HTTPRequest) throws(InvalidArgument) {
        let body = try MultipartBody(request.body, contentType: request.headers["Content-Type"] ?? "")
        guard let notification = body.parts["notification"], let devices = body.parts["devices"] else {
            throw InvalidArgument("a batch needs a part notification and a part devices")
        }
        try self.init(head: request.headers, type: notification.headers["Content-Type"], body: notification.body)
        guard platform != nil else { throw InvalidArgument("a batch has no template") }
        let handles = try JSONValue(document: devices.body).elements
        guard let handles, (1...Self.batchLimit).contains(handles.count),
            case let texts = handles.compactMap(\.text), texts.count == handles.count
        else { throw InvalidArgument("the devices are no list of 1 to \(Self.batchLimit) handles") }
        audience = .handles(texts)
    }

    init(scheduled request: HTTPRequest, at time: Int64) throws(InvalidArgument) {
        try self.init(head: request.headers, type: request.headers["Content-Type"], body: request.body)
        guard let text = request.headers["ServiceBusNotification-ScheduleTime"], let moment = HubTime.parse(text) else {
            throw InvalidArgument("the header ServiceBusNotification-ScheduleTime is missing or no date")
        }
        guard moment - time <= Self.longestWait.count else {
            throw InvalidArgument("the header ServiceBusNotification-ScheduleTime is more than seven days ahead")
        }
        scheduledAt = moment
    }
}

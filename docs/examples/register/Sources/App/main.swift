import Foundation
import HeraldDevices
import HeraldRegistration

// Registers this machine as a device: App URL USER PASSWORD APNS-TOKEN
let words = CommandLine.arguments
guard words.count == 5, let url = URL(string: words[1]) else {
    print("usage: App URL USER PASSWORD APNS-TOKEN")
    exit(64)
}
let path = FileRegistrationStore.defaultPath(environment: ProcessInfo.processInfo.environment)
let client = try RegistrationClient(
    url: url, credentials: .basic(username: words[2], password: words[3]), store: FileRegistrationStore(path: path))
do {
    print(try await client.register(handle: DeviceHandle(words[4]), platform: .apns))
} catch {
    print(error)
    exit(1)
}

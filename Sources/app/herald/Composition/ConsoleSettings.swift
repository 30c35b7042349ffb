import HeraldCommandLine
import HeraldConsole
import HeraldHTTP
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

extension Settings {
    func consoleContext(
        environment: [String: String], configuration: String?, temporaryDirectory: String
    ) throws -> ConsoleContext {
        let search = try timelineSearch(isDiscreet: true)
        var context = ConsoleContext(
            replay: try replayContext(environment: environment), campaigns: campaignContext(environment: environment),
            starts: CampaignStartRules(
                pushServices: try pushServices(), maximumEventBytes: limits.eventBytes, users: backend.users,
                reach: contentReach, uploadLimit: console.uploadLimit, directory: temporaryDirectory),
            search: search, account: try accountReader(), words: try lastWordContext(environment: environment),
            now: NowPlan(
                search: search,
                reach: ClusterReach(bootstrapServers: kafka.bootstrapServers, patience: NowPlan.patience),
                wishes: topicWishes,
                clientProperties: KafkaClientSettings.common(self),
                groupProperties: KafkaClientSettings.doctorReader(self),
                readerProperties: KafkaClientSettings.watcher(self), configuration: configuration),
            reach: clusterReach, admin: try adminClient(), configuration: configuration,
            situation: { situation(now: $0, configuration: configuration) })
        if preferences.enabled { context.starts.classes = topics.classes }
        (context.zones, context.defaultZone) = ((try? ZoneFolder.read()) ?? TimeZones(), preferences.defaultZone)
        context.starts.zones = context.zones
        return context
    }

    /// Where the console is served, and to whom.
    ///
    /// - Parameter onMistake: called when people are out because of a mistake in the token file, and with `nil` when it
    ///   has none any more.
    /// - Throws: a ``CommandFailure`` with the status of bad settings.
    func consoleConfiguration(
        allowsChanges: Bool, operatorName: String, onMistake: @escaping @Sendable (InputError?) -> Void
    ) throws -> ConsoleServer.Configuration {
        guard case .address(let host, let port) = console.listen else {
            throw CommandFailure("console.listen: off serves nobody: choose an address", status: .badSettings)
        }
        var configuration = ConsoleServer.Configuration()
        configuration.host = host
        configuration.port = port
        configuration.hosts = console.hosts
        configuration.trustedProxies = try console.trustedProxies.map { text in
            guard let network = HTTPNetwork(text) else {
                throw CommandFailure(
                    "console.trustedProxies: \(SafeText.quoted(text)) is neither an address nor a network such as 10.0.0.0/8",
                    status: .badSettings)
            }
            return network
        }
        configuration.allowsChanges = allowsChanges
        configuration.operatorName = operatorName
        configuration.obeysWords = preferences.enabled
        configuration.links = ConsoleLinks(
            traces: try linkTemplate("console.links.traces", console.links.traces, names: ConsoleLinks.traceName),
            alerts: try linkTemplate("console.links.alerts", console.links.alerts, names: ConsoleLinks.alertName))
        do {
            configuration.tokens = try console.tokenFile.map { path throws(InputError) in
                try TokenFile(path: path, onMistake: onMistake)
            }
        } catch {
            throw CommandFailure("console.tokenFile: \(error)", status: .badSettings)
        }
        guard configuration.tokens != nil || configuration.isOnLoopback else {
            throw CommandFailure(
                "console.tokenFile: is missing, and console.listen (\(console.listen)) is open to others: write a file "
                    + "with a line ROLE NAME TOKEN for each person, or listen on 127.0.0.1", status: .badSettings)
        }
        return configuration
    }

    private func linkTemplate(_ setting: String, _ text: String?, names name: String) throws -> String? {
        guard let text else { return nil }
        guard ConsoleLinks.isTemplate(text, naming: name) else {
            throw CommandFailure(
                "\(setting): \(SafeText.quoted(text)) is no address that begins with https:// or http:// and has \(name) "
                    + "behind its host", status: .badSettings)
        }
        return text
    }
}

extension Settings {
    init(_ values: SettingsValues) {
        typealias Table = SettingsTable
        kafka = Kafka(
            bootstrapServers: values[Table.kafkaBootstrapServers],
            group: values[Table.kafkaGroup],
            instance: values[Table.kafkaInstance],
            staticMembership: values[Table.kafkaStaticMembership],
            properties: values[Table.kafkaProperties])
        let replicationFactor = values[Table.topicsReplicationFactor]
        topics = Topics(
            requests: values[Table.topicsRequests],
            results: values[Table.topicsResults],
            retryPrefix: values[Table.topicsRetry],
            deadLetter: values[Table.topicsDeadLetter],
            campaigns: values[Table.topicsCampaigns],
            state: values[Table.topicsState],
            audit: values[Table.topicsAudit],
            partitions: values[Table.topicsPartitions],
            replicationFactor: replicationFactor == 0 ? nil : replicationFactor,
            retention: values[Table.topicsRetention])
        backend = Backend(
            url: values[Table.backendURL],
            path: values[Table.backendPath],
            registerPath: values[Table.backendRegisterPath],
            timeout: values[Table.backendTimeout],
            connectTimeout: values[Table.backendConnectTimeout],
            connections: values[Table.backendConnections] == 0 ? nil : values[Table.backendConnections],
            proxy: values[Table.backendProxy],
            proxyPassword: values[Table.backendProxyPasswordFile].map { .file($0) },
            statuses: values[Table.backendStatuses],
            pushServices: values[Table.backendPushServices],
            aliases: values[Table.backendAliases].filter { alias, name in
                let names = values[Table.backendPushServices]
                return names.contains(name) && !names.contains(alias)
            },
            authentication: Authentication(values),
            tls: TLS(
                caFile: values[Table.backendTLSCAFile],
                certificateFile: values[Table.backendTLSCertificateFile],
                keyFile: values[Table.backendTLSKeyFile]))
        delivery = Delivery(
            guarantee: values[Table.deliveryGuarantee],
            ordering: values[Table.deliveryOrdering],
            lanes: values[Table.deliveryLanes],
            maxInFlight: values[Table.deliveryMaxInFlight],
            commitInterval: values[Table.deliveryCommitInterval],
            maxUnrecorded: values[Table.deliveryMaxUnrecorded],
            drainTimeout: values[Table.deliveryDrainTimeout],
            dedupe: Dedupe(
                window: values[Table.deliveryDedupeWindow], size: values[Table.deliveryDedupeSize]))
        retry = Retry(
            immediate: values[Table.retryImmediate],
            delays: values[Table.retryDelays],
            maxElapsed: values[Table.retryMaxElapsed],
            replays: values[Table.retryReplays])
        limits = Limits(
            perSecond: values[Table.limitsPerSecond], pushServices: values[Table.limitsPushServices],
            eventBytes: values[Table.limitsEventBytes])
        outages = Outages(
            breaker: Threshold(share: values[Table.outagesBreakerShare], of: values[Table.outagesBreakerOf]),
            deadLetterBreaker: Threshold(
                share: values[Table.outagesDeadLetterBreakerShare], of: values[Table.outagesDeadLetterBreakerOf]))
        log = Log(level: values[Table.logLevel], format: values[Table.logFormat])
        admin = Admin(listen: values[Table.adminListen], token: values.secret(SecretPair.adminToken))
    }
}

extension Settings.Authentication {
    /// Nil when what the kind needs is not set.
    init?(_ values: SettingsValues) {
        switch values[SettingsTable.backendAuthKind] {
        case .none: self = .none
        case .basic:
            guard let username = values[SettingsTable.backendAuthUsername],
                let password = values.secret(SecretPair.password)
            else { return nil }
            self = .basic(username: username, password: password)
        case .bearer:
            guard let token = values.secret(SecretPair.token) else { return nil }
            self = .bearer(token: token)
        case .oauth2:
            guard let tokenURL = values[SettingsTable.backendAuthTokenURL],
                let clientID = values[SettingsTable.backendAuthClientID],
                let clientSecret = values.secret(SecretPair.clientSecret)
            else { return nil }
            self = .oauth2(
                Settings.OAuth2(
                    tokenURL: tokenURL, clientID: clientID, clientSecret: clientSecret,
                    scope: values[SettingsTable.backendAuthScope],
                    clientAuthentication: values[SettingsTable.backendAuthClientAuthentication],
                    caFile: values[SettingsTable.backendAuthCAFile]))
        }
    }
}

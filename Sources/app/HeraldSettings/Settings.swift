/// All checked settings; made by ``load(_:requiring:checking:)``.
///
/// The declaration in ``SettingsTable`` and docs/SETTINGS.md document each setting's meaning, default and range.
package struct Settings: Sendable {
    let values: SettingsValues

    package var kafka: SettingsSection<SettingsTable.Kafka> { section(\.kafka) }
    package var topics: SettingsSection<SettingsTable.Topics> { section(\.topics) }
    package var backend: SettingsSection<SettingsTable.Backend> { section(\.backend) }
    package var feedback: SettingsSection<SettingsTable.Feedback> { section(\.feedback) }
    package var delivery: SettingsSection<SettingsTable.Delivery> { section(\.delivery) }
    package var retry: SettingsSection<SettingsTable.Retry> { section(\.retry) }
    package var limits: SettingsSection<SettingsTable.Limits> { section(\.limits) }
    package var outages: SettingsSection<SettingsTable.Outages> { section(\.outages) }
    package var preferences: SettingsSection<SettingsTable.Preferences> { section(\.preferences) }
    package var log: SettingsSection<SettingsTable.Log> { section(\.log) }
    package var admin: SettingsSection<SettingsTable.Admin> { section(\.admin) }
    package var console: SettingsSection<SettingsTable.Console> { section(\.console) }
    package var traces: SettingsSection<SettingsTable.Traces> { section(\.traces) }

    private func section<Declarations>(_ path: KeyPath<SettingsTable, Declarations>) -> SettingsSection<Declarations> {
        SettingsSection(values: values, declarations: SettingsTable.declared[keyPath: path])
    }
}

/// A section's values, by the names of their declarations: `settings.delivery.lanes`.
@dynamicMemberLookup
package struct SettingsSection<Declarations: SettingsDeclarations>: Sendable {
    let values: SettingsValues
    fileprivate let declarations: Declarations

    package subscript<Value>(dynamicMember path: KeyPath<Declarations, Setting<Value>>) -> Value {
        values[declarations[keyPath: path]]
    }

    package subscript<Inner>(dynamicMember path: KeyPath<Declarations, Inner>) -> SettingsSection<Inner> {
        SettingsSection<Inner>(values: values, declarations: declarations[keyPath: path])
    }
}

import SnapshotFormat
package import SystemIO

/// The settings of webhooks. By default there is no endpoint, and nothing is sent.
package struct WebhookSettings: Sendable, Hashable {
  /// Where events are sent.
  package var endpoints: [WebhookEndpoint] = []
  /// The file with the secrets that sign the events; `nil` if there is none.
  package var secretFile: String?
  /// The networks to which events may be sent although they are not public.
  package var allowedNetworks: [AddressBlock] = []
  /// The events that are sent.
  package var events = Set(WebhookEvent.Kind.allCases)
  /// The identifiers of the applications whose snapshots have events; empty for all.
  package var applications: Set<String> = []
  /// The beginnings of the reports whose snapshots have events; empty for all.
  package var reportPrefixes: [String] = []
  /// The fields of the record that events have.
  package var fields = WebhookField.usual
  /// The URL of this server with which links begin, without a slash at its end; empty for paths.
  package var linkBase = ""

  /// Creates the default settings.
  package init() {}

  /// Whether anything is sent.
  package var isEnabled: Bool { !endpoints.isEmpty }

  /// What is missing in the settings, as a sentence; `nil` if nothing is.
  package var problem: String? {
    isEnabled && secretFile == nil ? WebhookError.secretFileMissing.description : nil
  }

  /// Whether an event about a snapshot with `record` is sent. Without a record only settings without a filter send it.
  func selects(_ kind: WebhookEvent.Kind, _ record: SnapshotRecord?) -> Bool {
    guard isEnabled, events.contains(kind) else { return false }
    guard let record else { return applications.isEmpty && reportPrefixes.isEmpty }
    guard applications.isEmpty || applications.contains(record.application.identifier) else { return false }
    return reportPrefixes.isEmpty || reportPrefixes.contains { record.report.description.hasPrefix($0) }
  }
}

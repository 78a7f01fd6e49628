import Foundation
import SnapshotServer
import SystemIO
import Webhooks

extension WebhookSettings {
  /// Every setting below `server.webhooks`.
  static let settings: [Setting<WebhookSettings>] = [
    list(
      "endpoints", "at most \(WebhookLimits.endpoints) different URLs of http or https, separated by commas",
      \.endpoints, isSecret: true
    ) { names in
      let endpoints = names.compactMap(WebhookEndpoint.init)
      guard names.count <= WebhookLimits.endpoints, endpoints.count == names.count,
        Set(endpoints).count == names.count
      else { return nil }
      return endpoints
    },
    .init(name: "secretFile", wanted: "a file", reloads: true) {
      $0.secretFile = $1.isEmpty ? nil : $1
      return true
    },
    .init(
      name: "allowedNetworks", wanted: "addresses and blocks like 10.0.0.0/8, separated by commas",
      reloads: true
    ) { settings, text in
      guard let blocks = ServerSettings.addressBlocks(text) else { return false }
      settings.allowedNetworks = blocks
      return true
    },
    list("events", "some of \(text(WebhookEvent.Kind.self)), separated by commas", \.events) {
      $0.isEmpty ? nil : choice($0)
    },
    list(
      "applications", "at most \(WebhookLimits.filters) identifiers of applications, separated by commas",
      \.applications
    ) { $0.count <= WebhookLimits.filters ? Set($0) : nil },
    list(
      "reportPrefixes", "at most \(WebhookLimits.filters) beginnings of reports, separated by commas",
      \.reportPrefixes
    ) { $0.count <= WebhookLimits.filters ? $0 : nil },
    list("fields", "some of \(text(WebhookField.self)), separated by commas", \.fields, choice),
  ]

  private static func list<Value: Sendable>(
    _ name: String, _ wanted: String, _ path: any WritableKeyPath<WebhookSettings, Value> & Sendable,
    isSecret: Bool = false, _ parse: @escaping @Sendable ([String]) -> Value?
  ) -> Setting<WebhookSettings> {
    Setting(name: name, wanted: wanted, reloads: true, isSecret: isSecret) { settings, text in
      let names = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      guard !names.contains(""), let value = parse(names) else { return false }
      settings[keyPath: path] = value
      return true
    }
  }

  /// The cases that `names` name; `nil` if there is another name.
  private static func choice<Case: RawRepresentable<String> & Hashable>(_ names: [String]) -> Set<Case>? {
    let chosen = names.compactMap { Case(rawValue: $0) }
    return chosen.count == names.count ? Set(chosen) : nil
  }

  private static func text<Case: RawRepresentable<String> & CaseIterable>(_ type: Case.Type) -> String {
    Case.allCases.map(\.rawValue).sorted().joined(separator: ", ")
  }
}

import AccessControl
import Foundation
import HTTPEngine
import Logging
import SnapshotDiff
import SnapshotServer
import SnapshotStore
import SnapshotWeb
import SystemIO
import Webhooks

/// Every setting of a server, with its complete name.
extension ServerSettings {
  static let table: [Setting<ServerSettings>] =
    own.map { $0.inside("server", \.self) }
    + limitSettings.map { $0.inside("server.limits", \.limits, reloads: true) }
    + SharedSettings.settings.map { $0.inside("server.shared", \.shared) }
    + TLSSettings.settings.map { $0.inside("server.tls", \.tls) }
    + RetentionSettings.settings.map { $0.inside("server.retention", \.retention, reloads: true) }
    + RequiredRedaction.settings.map { $0.inside("server.redaction", \.redaction) }
    + UploadSettings.settings.map { $0.inside("server.uploads", \.uploads) }
    + TrustedUsers.settings.map { $0.inside("server.trustedUser", \.trustedUser, reloads: true) }
    + WebhookSettings.settings.map { $0.inside("server.webhooks", \.webhooks) }

  /// The settings directly below `server`.
  private static let own: [Setting<ServerSettings>] = [
    value("host", "an address such as 127.0.0.1", \.host) { $0.isEmpty ? nil : $0 },
    value("port", "a port from 0 to 65535", \.port) { Int($0, in: 0...65535) },
    value(
      "socket", "the path of a file, with at most \(SocketPath.maximumLength) bytes", \.socket,
      orEmpty { SocketPath($0) }),
    value("socketMode", "permission bits in octal from 0600 to 0777, with both of the owner", \.socketMode) {
      UInt16($0, radix: 8).flatMap { $0 & 0o600 == 0o600 && $0 <= 0o777 ? $0 : nil }
    },
    value(
      "publicURL",
      "an http or https URL such as https://tools.example/snapshots, with at most "
        + "\(PublicAddress.maximumPathLength) bytes of letters, digits and - . _ ~ as its path, which does not start "
        + "with one of \(ServerSettings.reservedPaths.joined(separator: ", "))",
      \.publicURL, orEmpty { ServerSettings.publicAddress($0) }),
    value("storage", "a folder", \.storage) { $0.isEmpty ? nil : $0 },
    value("insecure", "true or false", \.insecure) { Bool($0) },
    value(
      "requestsPerToken", "‘none’, or a rate like 100/min", \.requestsPerToken, reloads: true,
      orNone { RateLimit($0) }),
    value(
      "requestsPerAddress", "‘none’, or a rate like 100/min", \.requestsPerAddress, reloads: true,
      orNone { RateLimit($0) }),
    value(
      "uploadsPerToken", "‘none’, or a quota like 10GB/d", \.uploadsPerToken, reloads: true,
      orNone { UploadQuota($0) }),
    value(
      "uploadsPerAddress", "‘none’, or a quota like 10GB/d", \.uploadsPerAddress, reloads: true,
      orNone { UploadQuota($0) }),
    value("eventLoops", "a number from 0 to 256", \.eventLoops) { Int($0, in: 0...256) },
    value("maximumBundleBytes", "a number of bytes from 1", \.maximumBundleBytes, atLeast(1)),
    value("maximumInflatedBytes", "a number of bytes from 1", \.maximumInflatedBytes, atLeast(1)),
    value("reservedBytes", "a number of bytes from 0", \.reservedBytes, atLeast(0)),
    value("validation", "‘automatic’ or ‘full’", \.validation) { UploadValidator.Policy(rawValue: $0) },
    value("sealedOnly", "true or false", \.sealedOnly) { Bool($0) },
    value("sharesFlushes", "true or false", \.sharesFlushes) { Bool($0) },
    value("shutdownSeconds", "seconds from 0 to 3600", \.shutdownSeconds) { Int($0, in: 0...3600) },
    value(
      "trustedProxies", "addresses, blocks like 10.0.0.0/8 and ‘unix’, separated by commas", \.trustedProxies,
      reloads: true, trustedProxies),
    value("forwardingFields", "‘forwarded’ or ‘x-forwarded’", \.forwardingFields) {
      ForwardingFields(rawValue: $0)
    },
    value("proxyProtocol", "true or false", \.proxyProtocol) { Bool($0) },
    value("auditFileBytes", "a number of bytes from 4096", \.auditFileBytes, atLeast(4096)),
    value("auditFiles", "a number from 1 to 10000", \.auditFiles) { Int($0, in: 1...10_000) },
    value(
      "comparisonFilter", "rules such as ‘updated_at, $.items[*].token’, separated by commas",
      \.comparisonFilter
    ) { text in
      do { return try ComparisonFilter(text) } catch { return nil }
    },
    value(
      "tracker",
      "an http or https address with {report} after the host, such as https://tracker.example/browse/{report}",
      \.tracker, orEmpty { AddressTemplate($0, [.report], required: .report) }),
    value(
      "newIssue",
      "an http or https address, with {report}, {snapshot}, {application}, {version} or {note} after the host",
      \.newIssue, orEmpty { AddressTemplate($0, AddressTemplate.Placeholder.allCases) }),
    value("logLevel", "one of \(levels)", \.logLevel, reloads: true) { Logger.Level(rawValue: $0) },
  ]

  private static func value<Value: Sendable>(
    _ name: String, _ wanted: String, _ path: any WritableKeyPath<ServerSettings, Value> & Sendable,
    reloads: Bool = false, _ parse: @escaping @Sendable (String) -> Value?
  ) -> Setting<ServerSettings> {
    Setting(name: name, wanted: wanted, reloads: reloads) { settings, text in
      guard let value = parse(text) else { return false }
      settings[keyPath: path] = value
      return true
    }
  }

  private static func orNone<Value>(
    _ parse: @escaping @Sendable (String) -> Value?
  ) -> @Sendable (String) -> Value?? {
    { text in text == "none" ? .some(nil) : parse(text).map(Optional.some) }
  }

  private static func orEmpty<Value>(
    _ parse: @escaping @Sendable (String) -> Value?
  ) -> @Sendable (String) -> Value?? {
    { text in text.isEmpty ? .some(nil) : parse(text).map(Optional.some) }
  }

  private static func atLeast(_ least: Int64) -> @Sendable (String) -> Int64? {
    { text in Int64(text).flatMap { $0 >= least ? $0 : nil } }
  }

  private static let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
}

extension Int {
  fileprivate init?(_ text: String, in range: ClosedRange<Int>) {
    guard let value = Int(text), range.contains(value) else { return nil }
    self = value
  }
}

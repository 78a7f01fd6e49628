import AccessControl
import Configuration
import Foundation
import HTTPEngine
import Logging
import SnapshotDiff
import SnapshotServer
import SnapshotStore
import SystemIO

/// The setting `server.port` is `--port` on the command line, `SNAPSHOT_SERVER_PORT` in the environment, and `port`
/// below `server` in the settings file. Invalid values and unknown names are refused, never ignored.
extension ServerSettings {
  /// Reads the settings. Command-line options take precedence over the environment, the environment over the file, and
  /// the file over the defaults. The file may be missing unless `fileIsRequired`.
  init(
    flags: [String: String] = [:], environment: [String: String] = ProcessInfo.processInfo.environment,
    file: String, fileIsRequired: Bool
  ) throws(CommandFailure) {
    self.init()
    let file = try SettingsFile(path: file, isRequired: fileIsRequired)
    let reader = Self.reader(flags, environment, file)
    var known: Set<String> = []

    func read<Value>(
      _ key: String, _ wanted: String, into value: inout Value, _ parse: (String) -> Value?
    ) throws(CommandFailure) {
      known.insert(key)
      guard let text = reader.string(forKey: ConfigKey(key)) else { return }
      guard let parsed = parse(text) else {
        throw CommandFailure("The setting \(key) is ‘\(text)’; it takes \(wanted).", status: .refused)
      }
      value = parsed
    }

    func readGroup<Group>(
      _ key: String, _ settings: [Setting<Group>], into group: inout Group
    ) throws(CommandFailure) {
      for setting in settings {
        let others = group
        try read("\(key).\(setting.name)", setting.wanted, into: &group) { setting.parse($0, into: others) }
      }
    }

    try read("server.host", "an address such as 127.0.0.1", into: &host) { $0.isEmpty ? nil : $0 }
    try read("server.port", "a port from 0 to 65535", into: &port) { Int($0, in: 0...65535) }
    try read("server.storage", "a folder", into: &storage) { $0.isEmpty ? nil : $0 }
    try read("server.insecure", "true or false", into: &insecure) { Bool($0) }
    try read(
      "server.requestsPerToken", "‘none’, or a rate like 100/min", into: &requestsPerToken,
      Self.orNone { RateLimit($0) })
    try read(
      "server.requestsPerAddress", "‘none’, or a rate like 100/min", into: &requestsPerAddress,
      Self.orNone { RateLimit($0) })
    try read(
      "server.uploadsPerToken", "‘none’, or a quota like 10GB/d", into: &uploadsPerToken,
      Self.orNone { UploadQuota($0) })
    try read(
      "server.uploadsPerAddress", "‘none’, or a quota like 10GB/d", into: &uploadsPerAddress,
      Self.orNone { UploadQuota($0) })
    try read("server.eventLoops", "a number from 0 to 256", into: &eventLoops) { Int($0, in: 0...256) }
    try read("server.maximumBundleBytes", "a number of bytes from 1", into: &maximumBundleBytes) {
      Int64($0).flatMap { $0 > 0 ? $0 : nil }
    }
    try read("server.maximumInflatedBytes", "a number of bytes from 1", into: &maximumInflatedBytes) {
      Int64($0).flatMap { $0 > 0 ? $0 : nil }
    }
    try read("server.reservedBytes", "a number of bytes from 0", into: &reservedBytes) {
      Int64($0).flatMap { $0 >= 0 ? $0 : nil }
    }
    try read("server.validation", "‘automatic’ or ‘full’", into: &validation) {
      UploadValidator.Policy(rawValue: $0)
    }
    try read("server.sharesFlushes", "true or false", into: &sharesFlushes) { Bool($0) }
    try read("server.shutdownSeconds", "seconds from 0 to 3600", into: &shutdownSeconds) {
      Int($0, in: 0...3600)
    }
    try read(
      "server.trustedProxies", "addresses and blocks like 10.0.0.0/8, separated by commas",
      into: &trustedProxies, Self.addressBlocks)
    try readGroup("server.tls", TLSSettings.settings, into: &tls)
    try readGroup("server.limits", Self.limitSettings, into: &limits)
    try read("server.auditFileBytes", "a number of bytes from 4096", into: &auditFileBytes) {
      Int64($0).flatMap { $0 >= 4096 ? $0 : nil }
    }
    try read("server.auditFiles", "a number from 1 to 10000", into: &auditFiles) { Int($0, in: 1...10_000) }
    try readGroup("server.retention", RetentionSettings.settings, into: &retention)
    try readGroup("server.uploads", UploadSettings.settings, into: &uploads)
    try read(
      "server.comparisonFilter", "rules such as ‘updated_at, $.items[*].token’, separated by commas",
      into: &comparisonFilter
    ) { text in
      do { return try ComparisonFilter(text) } catch { return nil }
    }
    try read("server.logLevel", "one of \(Self.levels)", into: &logLevel) { Logger.Level(rawValue: $0) }
    try file.refuse(allBut: known)
  }

  private static func orNone<Value>(_ parse: @escaping (String) -> Value?) -> (String) -> Value?? {
    { text in text == "none" ? .some(nil) : parse(text).map(Optional.some) }
  }

  private static let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")

  private static func reader(
    _ flags: [String: String], _ environment: [String: String], _ file: SettingsFile
  ) -> ConfigReader {
    ConfigReader(providers: [
      InMemoryProvider(name: "flags", values: values(flags)),
      EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "snapshot"),
      InMemoryProvider(name: file.path, values: values(file.values)),
    ])
  }

  private static func values(_ texts: [String: String]) -> [AbsoluteConfigKey: ConfigValue] {
    let pairs = texts.map {
      (AbsoluteConfigKey($0.key.split(separator: ".").map(String.init)), ConfigValue(stringLiteral: $0.value))
    }
    return Dictionary(pairs) { $1 }
  }
}

extension Int {
  fileprivate init?(_ text: String, in range: ClosedRange<Int>) {
    guard let value = Int(text), range.contains(value) else { return nil }
    self = value
  }
}

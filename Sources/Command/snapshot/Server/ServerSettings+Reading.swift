import Foundation
import SnapshotServer

extension ServerSettings {
  /// Reads the settings. Command-line options take precedence over the environment, the environment over the file, and
  /// the file over the defaults. The file may be missing unless `fileIsRequired`.
  init(
    flags: [String: String] = [:], environment: [String: String] = ProcessInfo.processInfo.environment,
    file: String, fileIsRequired: Bool
  ) throws(CommandFailure) {
    let source = SettingsSource(
      flags: flags, environment: environment, file: file, fileIsRequired: fileIsRequired)
    self = try source.read().settings
  }
}

import Configuration
import Foundation
import SnapshotServer
import Webhooks

/// Where the settings of a server come from. They can be read again at any time.
///
/// The setting `server.port` is `--port` on the command line, `SNAPSHOT_SERVER_PORT` in the environment, and `port`
/// below `server` in the settings file. Invalid values and unknown names are refused, never ignored.
struct SettingsSource: Sendable {
  /// Command-line options, by the complete name of the setting.
  var flags: [String: String] = [:]
  var environment = ProcessInfo.processInfo.environment
  /// The path of the settings file.
  let file: String
  /// Whether a missing file is an error.
  let fileIsRequired: Bool

  /// Reads all settings. Throws the first problem that ``inspect()`` finds.
  func read() throws(CommandFailure) -> ReadSettings {
    let (settings, problems) = try inspect()
    if let problem = problems.first { throw CommandFailure(problem, status: .refused) }
    return settings
  }

  /// Reads all settings, and describes every invalid value and unknown name, each with a sentence. Throws if the file
  /// can't be read at all.
  func inspect() throws(CommandFailure) -> (settings: ReadSettings, problems: [String]) {
    // As swift-configuration does.
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
      throw CommandFailure("The server and its settings require macOS 15.")
    }
    let file = try SettingsFile(path: file, isRequired: fileIsRequired)
    let reader = ConfigReader(providers: [
      InMemoryProvider(name: "flags", values: Self.values(flags)),
      EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "snapshot"),
      InMemoryProvider(name: file.path, values: Self.values(file.values)),
    ])
    var read = ReadSettings()
    var problems: [String] = []
    for setting in ServerSettings.table {
      guard let text = reader.string(forKey: ConfigKey(setting.name)) else { continue }
      guard let settings = setting.parse(text, into: read.settings) else {
        let shown = setting.isSecret ? "malformed" : "‘\(text)’"
        problems.append("The setting \(setting.name) is \(shown); it takes \(setting.wanted).")
        continue
      }
      read.settings = settings
      read.texts[setting.name] = text
      read.origins[setting.name] = origin(of: setting.name, file)
    }
    do {
      read.settings.storage = try NamedPath.resolve(read.settings.storage)
    } catch {
      problems.append("The setting server.storage: \(error.description)")
    }
    if let problem = read.settings.listeningProblem { problems.append(problem) }
    if let problem = read.settings.webhooks.problem { problems.append(problem) }
    if let problem = read.settings.trustedUserProblem { problems.append(problem) }
    return (read, problems + file.problems(allowing: Set(ServerSettings.table.map(\.name))))
  }

  /// The names of the environment variables that look like settings and have no effect.
  var unknownVariables: [String] {
    let known = Set(ServerSettings.table.map { Self.variable(for: $0.name) })
    return environment.keys.filter { $0.hasPrefix("SNAPSHOT_SERVER_") && !known.contains($0) }.sorted()
  }

  private func origin(of name: String, _ file: SettingsFile) -> ReadSettings.Origin {
    if flags[name] != nil { return .flag }
    if environment[Self.variable(for: name)] != nil { return .environment }
    return .file(line: file.entries.last { $0.key == name }?.line)
  }

  /// The environment variable of a setting: `SNAPSHOT_SERVER_LIMITS_HEAD_BYTES` for `server.limits.headBytes`.
  static func variable(for name: String) -> String {
    "SNAPSHOT_"
      + name.reduce(into: (text: "", wasLowercase: false)) { result, character in
        // A word that is an acronym, such as URL, is one word.
        if character == "." || character.isUppercase && result.wasLowercase { result.text += "_" }
        if character != "." { result.text += character.uppercased() }
        result.wasLowercase = character.isLowercase
      }.text
  }

  private static func values(_ texts: [String: String]) -> [AbsoluteConfigKey: ConfigValue] {
    let pairs = texts.map {
      (AbsoluteConfigKey($0.key.split(separator: ".").map(String.init)), ConfigValue(stringLiteral: $0.value))
    }
    return Dictionary(pairs) { $1 }
  }
}

/// Settings that were read, with their texts.
struct ReadSettings: Sendable {
  /// Where a value comes from.
  enum Origin: Sendable, Hashable {
    case flag
    case environment
    case file(line: Int?)
  }

  var settings = ServerSettings()
  /// The texts of the settings that have one, by name. All others have their defaults.
  var texts: [String: String] = [:]
  var origins: [String: Origin] = [:]
}

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

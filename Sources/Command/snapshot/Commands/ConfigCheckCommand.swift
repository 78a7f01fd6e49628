import ArgumentParser
import SnapshotServer

struct ConfigCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks the settings of the server, and starts nothing.",
    discussion: """
      Reads the settings file and the environment as `snapshot serve` does. Names every invalid value and every unknown \
      name; the exit code is 2 if there are any. Prints the settings that differ from their defaults, with their origins.
      """)

  @Option(
    help: ArgumentHelp("The settings file (default: Config/server.yaml, if it exists).", valueName: "file")
  )
  var config: String?

  @Flag(help: "Print the result as JSON.")
  var json = false

  private struct Result: Encodable {
    struct Item: Encodable {
      let setting: String
      let value: String
      let origin: String
      /// Whether a running server takes the value when it receives SIGHUP.
      let reloads: Bool
    }

    let file: String
    var settings: [Item] = []
    var problems: [String] = []
    var warnings: [String] = []
  }

  func run() throws {
    let source = SettingsSource(file: config ?? "Config/server.yaml", fileIsRequired: config != nil)
    let (read, problems) = try source.inspect()
    var result = Result(file: source.file, problems: problems)
    let differences = SettingsChange(from: ReadSettings(), to: read)
    for item in differences.now + differences.later {
      result.settings.append(
        Result.Item(
          setting: item.name, value: item.newText, origin: Self.text(of: read.origins[item.name]),
          reloads: differences.now.contains(item)))
    }
    result.settings.sort { $0.setting < $1.setting }
    result.warnings = source.unknownVariables.map { "The environment variable \($0) is not a setting." }
    if json { Console.print(json: result) } else { show(result) }
    guard problems.isEmpty else {
      let count = problems.count == 1 ? "1 setting is" : "\(problems.count) settings are"
      throw CommandFailure("\(count) invalid; the server would not start.", status: .refused)
    }
  }

  private func show(_ result: Result) {
    let width = result.settings.map(\.setting.count).max() ?? 0
    for item in result.settings {
      Console.print(
        Console.escaped("\(Columns.padded(item.setting, to: width))  \(item.value)  (\(item.origin))"))
    }
    for text in result.problems + result.warnings { Console.message(Console.escaped(text)) }
    if result.problems.isEmpty { Console.message("The settings are valid.") }
  }

  private static func text(of origin: ReadSettings.Origin?) -> String {
    switch origin {
    case .flag: "option"
    case .environment: "environment"
    case .file(let line?): "line \(line)"
    case .file(nil), nil: "file"
    }
  }
}

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Works with the settings of the server.",
    subcommands: [ConfigCheckCommand.self])
}

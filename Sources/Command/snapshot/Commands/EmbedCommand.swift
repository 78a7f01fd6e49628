import ArgumentParser
import DataSnapshots
import Foundation
import SnapshotFormat

struct EmbedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "embed",
    abstract: "Copies an .xcappdata bundle into an app during its build.",
    discussion: """
      Run this in a build phase of Xcode, which sets the variables for the configuration and the paths. The bundle is \
      copied if the configuration is one of those given with --for, or if the environment variable is set. Otherwise a \
      bundle from an earlier build is removed from the app, so that users never receive it. Prints the path of the \
      copy, if there is one.

        snapshot embed "$SRCROOT/Fixture.xcappdata" --for Debug --for Screenshots
      """)

  @Argument(help: "The bundle; its name ends in .xcappdata.")
  var bundle: String

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "A build configuration that includes the data; can be repeated.", valueName: "configuration"))
  var configurations: [String] = []

  @Option(
    help: ArgumentHelp(
      "The environment variable that includes the data in every configuration.", valueName: "name"))
  var environment = "FASTLANE_SNAPSHOT"

  @Option(
    help: ArgumentHelp("The current build configuration (environment: CONFIGURATION).", valueName: "name"))
  var configuration: String?

  @Option(
    help: ArgumentHelp(
      "The folder of the built products (environment: TARGET_BUILD_DIR).", valueName: "folder"))
  var targetBuildDir: String?

  @Option(
    help: ArgumentHelp(
      "The path of the resources in that folder (environment: UNLOCALIZED_RESOURCES_FOLDER_PATH).",
      valueName: "path"))
  var resourcesFolder: String?

  @Flag(help: "Print the outcome and the path as JSON.")
  var json = false

  private struct Result: Encodable {
    let outcome: String
    let path: String
  }

  func run() async throws {
    let variables = ProcessInfo.processInfo.environment
    let products = try setting("--target-build-dir", targetBuildDir, "TARGET_BUILD_DIR", variables)
    let resources = try setting(
      "--resources-folder", resourcesFolder, "UNLOCALIZED_RESOURCES_FOLDER_PATH", variables)
    let condition = PreloadCondition.environment(environment)
    let isAskedFor = condition.holds(for: .init(environment: variables))
    var isNamed = false
    if !configurations.isEmpty, !isAskedFor {
      isNamed = configurations.contains(
        try setting("--configuration", configuration, "CONFIGURATION", variables))
    }
    guard
      let embedding = AppDataEmbedding(
        bundle: URL(filePath: bundle),
        resources: URL(filePath: products).appending(path: resources))
    else {
      throw CommandFailure("‘\(bundle)’ does not end in .xcappdata.", status: .refused)
    }
    do {
      report(try embedding.update(isWanted: isAskedFor || isNamed), embedding.destination.path)
    } catch {
      throw CommandFailure(error)
    }
  }

  private func report(_ outcome: AppDataEmbedding.Outcome, _ destination: String) {
    let names = configurations.isEmpty ? "no configuration" : configurations.joined(separator: ", ")
    let rule = "the data is included in \(names), or if \(environment) is set"
    switch outcome {
    case .embedded(let report):
      Console.message("Embedded: \(report).")
      if !json { Console.print(destination) }
    case .removed: Console.message("Removed \(destination): \(rule).")
    case .absent: Console.message("Embedded nothing: \(rule).")
    }
    guard json else { return }
    let word =
      switch outcome {
      case .embedded: "embedded"
      case .removed: "removed"
      case .absent: "absent"
      }
    Console.print(json: Result(outcome: word, path: destination))
  }

  /// The value of a flag or else of an environment variable. Throws if neither is set.
  private func setting(
    _ flag: String, _ value: String?, _ variable: String, _ variables: [String: String]
  ) throws -> String {
    guard let setting = value ?? variables[variable], !setting.isEmpty else {
      throw ValidationError("Pass \(flag), or run this in a build phase, where Xcode sets \(variable).")
    }
    return setting
  }
}

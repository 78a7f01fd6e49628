import ArgumentParser
import DataSnapshots
import Foundation
import SnapshotFormat

struct EmbedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "embed",
    abstract: "Copies an .xcappdata bundle into an app's product, in a build phase.",
    discussion: """
      Only for the configurations that are named, or when the environment variable is set; else the bundle that an \
      earlier build has left in the product is removed, so that no user ever gets it. Where Xcode runs it as a \
      build phase, the variables that it sets say what is built and where; flags go before them. Prints where the \
      bundle lies in the product, or nothing.

        snapshot embed "$SRCROOT/Fixture.xcappdata" --for Debug --for Screenshots
      """)

  @Argument(help: "The bundle; its name ends in .xcappdata.")
  var bundle: String

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "A configuration whose product holds the data; may be repeated.", valueName: "configuration"))
  var configurations: [String] = []

  @Option(
    help: ArgumentHelp(
      "The environment variable that asks for the data in any configuration.", valueName: "name"))
  var environment = "FASTLANE_SNAPSHOT"

  @Option(
    help: ArgumentHelp("The configuration that is built (environment: CONFIGURATION).", valueName: "name"))
  var configuration: String?

  @Option(
    help: ArgumentHelp("The folder of the products (environment: TARGET_BUILD_DIR).", valueName: "folder"))
  var targetBuildDir: String?

  @Option(
    help: ArgumentHelp(
      "The resources' path from there (environment: UNLOCALIZED_RESOURCES_FOLDER_PATH).", valueName: "path"))
  var resourcesFolder: String?

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
    do throws(AppDataError) {
      report(try embedding.update(isWanted: isAskedFor || isNamed), embedding.destination.path)
    } catch {
      throw CommandFailure(error)
    }
  }

  private func report(_ outcome: AppDataEmbedding.Outcome, _ destination: String) {
    let names = configurations.isEmpty ? "no configuration" : configurations.joined(separator: ", ")
    let rule = "the data is for \(names), or for when \(environment) is set"
    switch outcome {
    case .embedded(let report):
      Console.note("Embedded: \(report).")
      Console.print(destination)
    case .removed: Console.note("Removed \(destination): \(rule).")
    case .absent: Console.note("Nothing embedded: \(rule).")
    }
  }

  /// A flag's value, or the variable's; both may be missing only by mistake.
  private func setting(
    _ flag: String, _ value: String?, _ variable: String, _ variables: [String: String]
  ) throws -> String {
    guard let setting = value ?? variables[variable], !setting.isEmpty else {
      throw ValidationError("Give \(flag), or run this in a build phase, where Xcode sets \(variable).")
    }
    return setting
  }
}

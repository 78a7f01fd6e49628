import Foundation

/// Determines at which launches an app's container is preloaded. It should be true only for test launches, never for
/// users.
///
///     let whenTested: PreloadCondition = .debugBuild && (.fastlaneSnapshot || .argument("-preload"))
///
/// Conditions can be combined with `&&`, `||` and `!`; the description is combined accordingly.
public struct PreloadCondition: Sendable, CustomStringConvertible {
  /// The properties of a launch.
  public struct Launch: Sendable, Hashable {
    /// The command line, including the program's name.
    public var arguments: [String]
    /// The environment.
    public var environment: [String: String]
    /// Whether the launched app is a debug build.
    public var isDebugBuild: Bool

    /// Creates a description of a launch.
    public init(arguments: [String] = [], environment: [String: String] = [:], isDebugBuild: Bool = false) {
      self.arguments = arguments
      self.environment = environment
      self.isDebugBuild = isDebugBuild
    }

    /// The launch of the running process. `isDebugBuild` depends on the configuration of this package, which Xcode
    /// compiles in the same configuration, debug or release, as the app.
    public static var current: Launch {
      #if DEBUG
        let isDebugBuild = true
      #else
        let isDebugBuild = false
      #endif
      let process = ProcessInfo.processInfo
      return Launch(
        arguments: process.arguments, environment: process.environment, isDebugBuild: isDebugBuild)
    }
  }

  /// A description of the condition, such as `a debug build`.
  public let description: String
  private let test: @Sendable (Launch) -> Bool

  /// Creates a custom condition.
  public init(_ description: String, _ test: @escaping @Sendable (Launch) -> Bool) {
    self.description = description
    self.test = test
  }

  /// Whether the condition is true for a launch.
  public func holds(for launch: Launch = .current) -> Bool { test(launch) }
}

extension PreloadCondition {
  /// True for every launch.
  public static let always = PreloadCondition("always") { _ in true }

  /// True for a debug build: ``Launch/isDebugBuild``.
  public static let debugBuild = PreloadCondition("a debug build", \.isDebugBuild)

  /// True if the environment variable is set and is not empty, `0`, `no` or `false`.
  public static func environment(_ name: String) -> PreloadCondition {
    PreloadCondition("\(name) set") { isTrue($0.environment[name]) }
  }

  /// True if the environment variable has this value.
  public static func environment(_ name: String, is value: String) -> PreloadCondition {
    PreloadCondition("\(name)=\(value)") { $0.environment[name] == value }
  }

  /// True if the app was launched with this argument, such as `-preload`.
  public static func argument(_ argument: String) -> PreloadCondition {
    PreloadCondition("the argument \(argument)") { $0.arguments.dropFirst().contains(argument) }
  }

  /// True if fastlane takes screenshots: `FASTLANE_SNAPSHOT` is set in the environment, or by the arguments
  /// `-FASTLANE_SNAPSHOT YES`, which fastlane's helper passes to the app.
  public static let fastlaneSnapshot = PreloadCondition("FASTLANE_SNAPSHOT set") { launch in
    let name = "FASTLANE_SNAPSHOT"
    if isTrue(launch.environment[name]) { return true }
    guard let index = launch.arguments.dropFirst().firstIndex(of: "-" + name) else { return false }
    return index + 1 < launch.arguments.count && isTrue(launch.arguments[index + 1])
  }

  /// True if both conditions are true.
  public static func && (left: PreloadCondition, right: PreloadCondition) -> PreloadCondition {
    PreloadCondition("(\(left) and \(right))") { left.test($0) && right.test($0) }
  }

  /// True if at least one condition is true.
  public static func || (left: PreloadCondition, right: PreloadCondition) -> PreloadCondition {
    PreloadCondition("(\(left) or \(right))") { left.test($0) || right.test($0) }
  }

  /// True if the condition is false.
  public static prefix func ! (condition: PreloadCondition) -> PreloadCondition {
    PreloadCondition("not \(condition)") { !condition.test($0) }
  }

  private static func isTrue(_ value: String?) -> Bool {
    guard let value else { return false }
    return !["", "0", "no", "false"].contains(value.lowercased())
  }
}

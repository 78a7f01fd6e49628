import Foundation

/// When an app's container is preloaded: at a launch that was made for it, and never at a user's.
///
///     let whenTested: PreloadCondition = .debugBuild && (.fastlaneSnapshot || .argument("-preload"))
///
/// Conditions are combined with `&&`, `||` and `!`; the description says what they amount to.
public struct PreloadCondition: Sendable, CustomStringConvertible {
  /// What is known of a launch.
  public struct Launch: Sendable, Hashable {
    /// The command line, with the program's name at its beginning.
    public var arguments: [String]
    /// The environment.
    public var environment: [String: String]
    /// Whether it is a debug build.
    public var isDebugBuild: Bool

    /// Describes a launch.
    public init(arguments: [String] = [], environment: [String: String] = [:], isDebugBuild: Bool = false) {
      self.arguments = arguments
      self.environment = environment
      self.isDebugBuild = isDebugBuild
    }

    /// The running process's. Whether it is a debug build is what this package was compiled as: Xcode compiles
    /// packages in the kind of configuration, debug or release, that the app is built in.
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

  /// The condition in words, such as `a debug build`.
  public let description: String
  private let test: @Sendable (Launch) -> Bool

  /// A condition of the app's own.
  public init(_ description: String, _ test: @escaping @Sendable (Launch) -> Bool) {
    self.description = description
    self.test = test
  }

  /// Whether the condition holds.
  public func holds(for launch: Launch = .current) -> Bool { test(launch) }
}

extension PreloadCondition {
  /// Holds at every launch.
  public static let always = PreloadCondition("always") { _ in true }

  /// Holds in a debug build: ``Launch/isDebugBuild``.
  public static let debugBuild = PreloadCondition("a debug build", \.isDebugBuild)

  /// Holds where the environment variable is set, to anything but nothing, `0`, `no` or `false`.
  public static func environment(_ name: String) -> PreloadCondition {
    PreloadCondition("\(name) set") { isTrue($0.environment[name]) }
  }

  /// Holds where the environment variable has that value.
  public static func environment(_ name: String, is value: String) -> PreloadCondition {
    PreloadCondition("\(name)=\(value)") { $0.environment[name] == value }
  }

  /// Holds where the app was launched with that argument, such as `-preload`.
  public static func argument(_ argument: String) -> PreloadCondition {
    PreloadCondition("the argument \(argument)") { $0.arguments.dropFirst().contains(argument) }
  }

  /// Holds where fastlane takes its screenshots: `FASTLANE_SNAPSHOT` is set in the environment, or was handed to the
  /// app as its helper does, by the arguments `-FASTLANE_SNAPSHOT YES`.
  public static let fastlaneSnapshot = PreloadCondition("FASTLANE_SNAPSHOT set") { launch in
    let name = "FASTLANE_SNAPSHOT"
    if isTrue(launch.environment[name]) { return true }
    guard let index = launch.arguments.dropFirst().firstIndex(of: "-" + name) else { return false }
    return index + 1 < launch.arguments.count && isTrue(launch.arguments[index + 1])
  }

  /// Holds where both do.
  public static func && (left: PreloadCondition, right: PreloadCondition) -> PreloadCondition {
    PreloadCondition("(\(left) and \(right))") { left.test($0) && right.test($0) }
  }

  /// Holds where either does, or both.
  public static func || (left: PreloadCondition, right: PreloadCondition) -> PreloadCondition {
    PreloadCondition("(\(left) or \(right))") { left.test($0) || right.test($0) }
  }

  /// Holds where the other doesn't.
  public static prefix func ! (condition: PreloadCondition) -> PreloadCondition {
    PreloadCondition("not \(condition)") { !condition.test($0) }
  }

  private static func isTrue(_ value: String?) -> Bool {
    guard let value else { return false }
    return !["", "0", "no", "false"].contains(value.lowercased())
  }
}

import Foundation
public import SnapshotFormat

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Manifest.Application {
  /// The running app, described by its main bundle. A process without a bundle uses its name as the identifier, and 0
  /// as version and build.
  public static var current: Manifest.Application {
    let information = Bundle.main.infoDictionary ?? [:]
    return Manifest.Application(
      identifier: Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName,
      version: information["CFBundleShortVersionString"] as? String ?? "0",
      build: information["CFBundleVersion"] as? String ?? "0")
  }
}

extension Manifest.Device {
  /// The device on which the app runs.
  public static var current: Manifest.Device {
    let version = ProcessInfo.processInfo.operatingSystemVersion
    return Manifest.Device(
      model: hardware, system: system,
      systemVersion: "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)",
      locale: Locale.current.identifier)
  }

  /// The machine name that `uname` returns, such as `iPhone17,1` or `x86_64`.
  private static var hardware: String {
    var names = utsname()
    guard unsafe uname(&names) == 0 else { return "unknown" }
    return unsafe withUnsafeBytes(of: &names.machine) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  private static var system: String {
    #if os(iOS)
      "iOS"
    #elseif os(macOS)
      "macOS"
    #elseif os(tvOS)
      "tvOS"
    #elseif os(watchOS)
      "watchOS"
    #elseif os(visionOS)
      "visionOS"
    #elseif os(Linux)
      "Linux"
    #else
      "unknown"
    #endif
  }
}

public import Foundation

/// An `.xcappdata` bundle as Xcode saves one, and a container that it can be copied into.
public struct AppDataFixture: Sendable {
  /// Where both lie.
  public let folder: TemporaryFolder
  /// The bundle.
  public var bundle: URL { folder.file("Fixture.xcappdata") }
  /// The container, which is not there at first.
  public var container: URL { folder.file("container") }

  /// Makes a bundle with `files`, by their paths in the container, and with empty `folders`.
  public init(
    _ files: [String: String], folders: [String] = [], information: String? = nil,
    in folder: TemporaryFolder? = nil
  ) throws {
    self.folder = try folder ?? TemporaryFolder()
    try FileManager.default.createDirectory(
      at: bundle.appending(path: "AppData"), withIntermediateDirectories: true)
    for (path, text) in files { try write(text, to: path) }
    for path in folders {
      try FileManager.default.createDirectory(at: source(path), withIntermediateDirectories: true)
    }
    if let information {
      try self.folder.write(Data(information.utf8), to: "Fixture.xcappdata/AppDataInfo.plist")
    }
  }

  /// The information that Xcode writes for an app of that identifier.
  public static func information(_ identifier: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
    <key>CFBundleIdentifier</key><string>\(identifier)</string>
    <key>CFBundleShortVersionString</key><string>3.1</string>
    <key>CFBundleVersion</key><string>7</string>
    </dict></plist>
    """
  }

  /// Where a path of the container lies in the bundle.
  public func source(_ path: String) -> URL { bundle.appending(path: "AppData/" + path) }

  /// Writes a file of the bundle.
  @discardableResult
  public func write(_ text: String, to path: String) throws -> URL {
    try folder.write(Data(text.utf8), to: "Fixture.xcappdata/AppData/" + path)
  }

  /// What lies in the container under a path; `nil` where nothing does.
  public func text(_ path: String) throws -> String? {
    let url = container.appending(path: path)
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    return String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }

  /// All paths below the container, sorted; none where it is not there.
  public func paths() throws -> [String] { try Self.paths(container) }

  /// All paths below a folder, sorted, links not followed; none where it is not there.
  public static func paths(_ folder: URL) throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
  }
}

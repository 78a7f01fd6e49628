public import Foundation

/// An `.xcappdata` bundle as Xcode saves it, and a container to copy it into.
public struct AppDataFixture: Sendable {
  /// The folder of both.
  public let folder: TemporaryFolder
  /// The bundle.
  public var bundle: URL { folder.file("Fixture.xcappdata") }
  /// The container. It does not exist at first.
  public var container: URL { folder.file("container") }

  /// Creates a bundle with `files`, by their paths in the container, and with empty `folders`.
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

  /// The information that Xcode writes for an app with the identifier.
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

  /// The location of a container's path in the bundle.
  public func source(_ path: String) -> URL { bundle.appending(path: "AppData/" + path) }

  /// Writes a file into the bundle.
  @discardableResult
  public func write(_ text: String, to path: String) throws -> URL {
    try folder.write(Data(text.utf8), to: "Fixture.xcappdata/AppData/" + path)
  }

  /// The text of a file in the container; `nil` if there is none.
  public func text(_ path: String) throws -> String? {
    let url = container.appending(path: path)
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    return String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }

  /// All paths below the container, sorted; empty if it does not exist.
  public func paths() throws -> [String] { try Self.paths(container) }

  /// All paths below a folder, sorted; empty if it does not exist. Symbolic links are not followed.
  public static func paths(_ folder: URL) throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
  }
}

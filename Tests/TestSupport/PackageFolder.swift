public import Foundation

/// The folder that holds `Package.swift`, wherever below it a source file lies.
public enum PackageFolder {
  /// The folder above `file`.
  public static func url(above file: String = #filePath) -> URL {
    var folder = URL(filePath: file).deletingLastPathComponent()
    while folder.path.count > 1,
      !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path)
    {
      folder.deleteLastPathComponent()
    }
    return folder
  }
}

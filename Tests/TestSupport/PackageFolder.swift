public import Foundation

/// Finds the folder of `Package.swift` above a source file.
public enum PackageFolder {
  /// The nearest folder above `file` that contains `Package.swift`.
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

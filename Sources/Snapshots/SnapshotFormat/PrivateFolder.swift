import Foundation
package import SystemIO

/// Folders of an app with what its users saw.
package enum PrivateFolder {
  /// Creates the folder `path` and all missing parent folders. On Apple's systems it is excluded from backups, and its
  /// files can be read only after the device has been unlocked once since its start.
  package static func create(_ path: String) throws(SystemError) {
    guard !Folder.isFolder(path) else { return }
    try Folder.createDurably(path)
    #if canImport(Darwin)
      protect(URL(filePath: path))
    #endif
  }

  #if canImport(Darwin)
    /// A disk that knows neither is used as it is.
    private static func protect(_ folder: URL) {
      var folder = folder
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      do { try folder.setResourceValues(values) } catch {}
      #if !os(macOS)
        let protection = FileProtectionType.completeUntilFirstUserAuthentication
        do {
          try FileManager.default.setAttributes([.protectionKey: protection], ofItemAtPath: folder.path)
        } catch {}
      #endif
    }
  #endif
}

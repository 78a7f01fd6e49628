package import SystemIO

/// The reason why a file is not imported.
package struct ArchiveImportError: Error, Sendable, CustomStringConvertible {
  /// A sentence that names the file.
  package let description: String
  /// The failure of the disk or the system that is the reason; `nil` if it is the file.
  package let systemError: SystemError?

  init(_ description: String, _ cause: (any Error)? = nil) {
    self.description = description
    systemError = cause as? SystemError
  }
}

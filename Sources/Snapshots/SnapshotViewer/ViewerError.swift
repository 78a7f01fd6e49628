package import SystemIO
package import ZipArchive

/// Why a file can't be viewed.
package enum ViewerError: Error {
  /// The file is damaged in the bundle.
  case zip(ZipError)
  /// A system call failed; for example, the disk is full.
  case system(SystemError)
  /// The bytes are not those from which the index was made.
  case changed
}

package import SystemIO
package import ZipArchive

/// Why a file can't be viewed.
package enum ViewerError: Error {
  /// The file is damaged in the bundle.
  case zip(ZipError)
  /// A system call failed.
  case system(SystemError)
  /// The disk has no space for a copy of the file, except for the reserve of uploads.
  case outOfSpace
  /// The bytes are not those from which the index was made.
  case changed
}

/// An entry of a ZIP archive as described by the central directory.
package struct ZipEntry: Sendable, Hashable {
  /// How the contents are stored.
  package enum Method: Sendable, Hashable {
    case stored
    case deflate
    /// Another method, with its number. Such entries can be listed but not read.
    case unsupported(UInt16)
  }

  /// The name, with components separated by `/`. The name of a folder ends in `/`.
  ///
  /// A name that is not marked as UTF-8 is decoded as UTF-8 if it comes from Unix and is valid, and as CP437 otherwise.
  /// No component is empty or consists only of dots and spaces, and there are no control characters. An old archive
  /// can contain one entry with an empty name.
  package let name: String
  /// How the contents are stored.
  package let method: Method
  /// Whether the contents are encrypted. Such entries can be listed but not read.
  package let isEncrypted: Bool
  /// The compressed size in bytes.
  package let compressedSize: Int64
  /// The declared uncompressed size in bytes.
  package let size: Int64
  /// The declared CRC-32 of the uncompressed contents.
  package let crc32: UInt32
  /// The offset of the entry's data in the file.
  package let dataOffset: Int64
  /// Whether the archive's writer marked the file as executable. Only for archives from Unix.
  package let isExecutable: Bool

  /// The reason why the entry can be listed but not read; `nil` if it can be read.
  let refusal: ZipError.Reason?

  /// Whether the contents can be read: they are not encrypted, and the compression method is supported.
  package var isReadable: Bool { refusal == nil }

  /// Whether this is a folder.
  package var isFolder: Bool { name.utf8.last == UInt8(ascii: "/") }
}

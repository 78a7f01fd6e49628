/// One entry of a ZIP archive, as the central directory has it.
package struct ZipEntry: Sendable, Hashable {
  /// How the bytes are stored.
  package enum Method: Sendable, Hashable {
    case stored
    case deflate
    /// A method by its number that is listed here but not read.
    case unsupported(UInt16)
  }

  /// The name, parts separated by `/`; a folder's ends in `/`. A name that isn't marked as UTF-8 is read as UTF-8
  /// where it comes from Unix and is valid, else as CP437. No part is empty or made of dots, no character is a
  /// control character; an old archive may hold one entry whose name is empty.
  package let name: String
  /// How the bytes are stored.
  package let method: Method
  /// Whether a password is needed: listed here, never read.
  package let isEncrypted: Bool
  /// The length in the archive.
  package let compressedSize: Int64
  /// The length when inflated, as declared.
  package let size: Int64
  /// The CRC-32 of the inflated bytes, as declared.
  package let crc32: UInt32
  /// Where the entry's data begins in the file.
  package let dataOffset: Int64
  /// Whether it was an executable file on the Unix system that the archive was made on.
  package let isExecutable: Bool

  /// Why the entry can be listed but not read, if so.
  let refusal: ZipError.Reason?

  /// Whether the contents can be read: they are not encrypted, nor compressed by a method that isn't known here.
  package var isReadable: Bool { refusal == nil }

  /// Whether this is a folder.
  package var isFolder: Bool { name.utf8.last == UInt8(ascii: "/") }
}

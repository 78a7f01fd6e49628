import Foundation
import SnapshotFormat

/// The name of an attachment, and of its file, which is distinct on every file system.
struct AttachmentName: Hashable {
  /// The maximum length of the file's name in bytes.
  static let longest = 255

  /// The name, composed (Unicode NFC).
  let text: String
  /// The name of the file.
  let file: String

  /// Creates the name `text`; `nil` if no file can have it, or if the name of its file would be longer than ``longest``.
  init?(_ text: String) {
    guard PortableName.isFileName(text) else { return nil }
    self.text = text.precomposedStringWithCanonicalMapping
    file = PortableName.distinct(self.text)
    guard file.utf8.count <= Self.longest else { return nil }
  }

  /// Creates the name of the attachment in `file`. Earlier versions did not encode the names of files.
  init?(file: String) {
    self.init(PortableName.decode(file) ?? file)
  }

  static func == (left: Self, right: Self) -> Bool { left.file == right.file }

  func hash(into hasher: inout Hasher) { hasher.combine(file) }
}

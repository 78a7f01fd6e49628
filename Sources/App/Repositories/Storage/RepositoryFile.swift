public import Foundation
import SystemIO

/// The files of storages for which the app names none.
///
/// Each is named after the type of the stored value, such as `ProfileModel-9f86d081884c7d65.json`. Two types never share
/// a file; nor do a model, an optional model and an array of models. The name depends only on the qualified name of the
/// type: if the type is renamed, or moves to another module, its file is no longer found. Pass the former file then:
///
///     InMemoryStorageWithFilePersistence(
///       file: RepositoryFile.folder.appending(path: "ProfileModel-9f86d081884c7d65.json"))
public enum RepositoryFile {
  /// The folder `Repositories` in the app's own folder in Application Support, as Foundation finds it: on Linux in
  /// `XDG_DATA_HOME`. It is created when the first value is written.
  public static var folder: URL {
    let app = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    return (folders.first ?? URL(filePath: NSHomeDirectory())).appending(path: "\(app)/Repositories")
  }

  /// The number of characters of a type's name in the name of its file. The digest tells longer names apart.
  private static let readableLength = 60

  /// The name of the file for a type; the same in every launch, except for private types.
  package static func name<Value>(for type: Value.Type) -> String {
    let model = (type as? any ModelContainer.Type)?.modelName ?? "\(type)"
    let readable = model.unicodeScalars.prefix(readableLength)
      .map { $0.properties.isAlphabetic || $0.properties.numericType != nil ? String($0) : "_" }.joined()
    return "\(readable)-\(digest(of: String(reflecting: type))).json"
  }

  /// The disk for the file of a type. The qualified name of a private type contains an address that differs between
  /// launches; its file would be lost, and is refused.
  static func disk<Value>(for type: Value.Type) -> Disk {
    guard String(reflecting: type).contains("(unknown context at") else { return .real }
    let refusal = SystemError(
      operation: "name a file after a private or local type; pass the storage a file for", path: "\(type)",
      code: EINVAL)
    return Disk(
      read: { _, _ throws(SystemError) in throw refusal },
      replace: { _, _ throws(SystemError) in throw refusal })
  }

  /// FNV-1a of 64 bits, as 16 hexadecimal digits. It also tells names apart that differ in case only, which are one
  /// file on many disks.
  private static func digest(of text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// A type whose file has the name of its models.
private protocol ModelContainer {
  static var modelName: String { get }
}

extension Optional: ModelContainer {
  fileprivate static var modelName: String { "\(Wrapped.self)" }
}

extension Array: ModelContainer {
  fileprivate static var modelName: String { "\(Element.self)" }
}

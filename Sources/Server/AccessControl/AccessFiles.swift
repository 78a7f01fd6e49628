package import SystemIO

/// All files of a storage folder that decide who has access: the tokens, and the keys with which tokens are hashed and
/// links are signed. Servers that share their snapshots need the same ones.
///
/// All methods block. Thread-safe, except that ``replace(with:)`` must not run concurrently with another change.
package struct AccessFiles: Sendable {
  private let storage: String

  /// Creates a value for the storage folder at `storage`. Does not access the folder.
  package init(storage: String) { self.storage = storage }

  /// Creates the key with which links are signed, if there is none.
  package func createLinkKey() throws(TokenStoreError) { _ = try KeyFile.links(in: storage).readOrCreate() }

  /// Returns the contents of all files by their paths in the storage folder.
  package func read() throws(SystemError) -> [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for name in KeyFile.names + (try tokenFiles()) {
      do {
        contents[name] = try File("\(storage)/\(name)").read(upTo: Self.fileBytes, at: 0)
      } catch  where error.isNotFound {
        continue
      }
    }
    return contents
  }

  /// Makes the files equal to `contents`, which ``read()`` returned for another folder. Every file that differs is
  /// replaced durably, keys first, and tokens that `contents` lacks are removed. Files of other names are ignored.
  package func replace(with contents: [String: [UInt8]]) throws(SystemError) {
    let current = try read()
    for folder in Set(contents.keys.filter(Self.isKnown).map(Folder.parent(of:))) {
      try Folder.createDurably("\(storage)/\(folder)")
    }
    // A token without the key with which it is hashed would be refused.
    for (name, bytes) in contents.sorted(by: { $0.key < $1.key }) where Self.isKnown(name) {
      if current[name] != bytes { try DurableFile.replace("\(storage)/\(name)", with: bytes) }
    }
    for name in current.keys where contents[name] == nil && TokenStore.id(ofFile: name) != nil {
      try Folder.removeIfPresent("\(storage)/\(name)")
    }
  }

  /// Whether a name is that of a key.
  package static func isKey(_ name: String) -> Bool { KeyFile.names.contains(name) }

  /// The maximum size of a file, in bytes.
  private static let fileBytes = TokenStore.Limits().fileBytes

  private func tokenFiles() throws(SystemError) -> [String] {
    let folder = TokenStore.folderName
    do {
      return try Folder.entries("\(storage)/\(folder)").map { "\(folder)/\($0)" }
        .filter { TokenStore.id(ofFile: $0) != nil }
    } catch  where error.isNotFound {
      return []
    }
  }

  /// Whether a name is that of a file that decides about access. Names come from a database.
  private static func isKnown(_ name: String) -> Bool {
    isKey(name) || TokenStore.id(ofFile: name) != nil
  }
}

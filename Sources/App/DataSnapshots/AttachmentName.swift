/// The rules for attachment names, which are valid and distinct on every file system.
enum AttachmentName {
  static let longest = 100

  /// Returns whether `name` has 1 to 100 ASCII letters, digits and characters of ` ._-+=,()@`, does not begin or end
  /// with a space or dot, and is not a reserved device name of Windows.
  static func isValid(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard (1...longest).contains(bytes.count), let first = bytes.first, let last = bytes.last else {
      return false
    }
    var stem = name.prefix { $0 != "." }.lowercased()
    // Windows also treats `con .txt` as `con`.
    while stem.last == " " { stem.removeLast() }
    let isTaken =
      ["con", "prn", "aux", "nul"].contains(stem)
      || (stem.utf8.count == 4 && ["com", "lpt"].contains(String(stem.prefix(3)))
        && stem.last?.isNumber == true)
    return !isTaken && !" .".utf8.contains(first) && !" .".utf8.contains(last)
      && bytes.allSatisfy { SecretScanner.isAlphanumeric($0) || " ._-+=,()@".utf8.contains($0) }
  }
}

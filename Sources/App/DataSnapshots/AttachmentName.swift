/// The names that attachments may have: such as every disk takes and no disk confuses.
enum AttachmentName {
  static let longest = 100

  /// Whether `name` has 1 to 100 ASCII letters, digits, and any of ` ._-+=,()@`, with no space or dot at its ends, and
  /// is not taken by Windows.
  static func isValid(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard (1...longest).contains(bytes.count), let first = bytes.first, let last = bytes.last else {
      return false
    }
    var stem = name.prefix { $0 != "." }.lowercased()
    // Windows takes `con .txt` for `con` as well.
    while stem.last == " " { stem.removeLast() }
    let isTaken =
      ["con", "prn", "aux", "nul"].contains(stem)
      || (stem.utf8.count == 4 && ["com", "lpt"].contains(String(stem.prefix(3)))
        && stem.last?.isNumber == true)
    return !isTaken && !" .".utf8.contains(first) && !" .".utf8.contains(last)
      && bytes.allSatisfy { SecretScanner.isAlphanumeric($0) || " ._-+=,()@".utf8.contains($0) }
  }
}

import HTTPSemantics

extension FuzzedParser {
  /// A formatted disposition is a valid field value for every file name, and is parsed to the same value. The same
  /// applies to a media type.
  func checkDispositions(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    try checkDisposition(.attachment(text))
    if let disposition = ContentDisposition(parsing: text) { try checkDisposition(disposition) }
    if let type = MediaType(text) {
      let parameters = type.parameters.sorted { $0.key < $1.key }.map { name, value in
        "; \(name)=\"\(value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
      }
      let written = type.essence + parameters.joined()
      try require(MediaType(written) == type, "‘\(text)’ is written as ‘\(written)’")
    }
  }

  private func checkDisposition(_ disposition: ContentDisposition) throws {
    let written = disposition.fieldValue
    try require(
      written.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "not in ASCII: \(written.debugDescription)")
    let again = ContentDisposition(parsing: written)
    try require(again?.kind == disposition.kind, "the kind of \(written) is \(again?.kind ?? "unreadable")")
    let isPlain = { (text: String) in text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    if let name = disposition.fileName, isPlain(name) {
      try require(
        again?.fileName?.utf8.elementsEqual(name.utf8) == true,
        "\(name.debugDescription) is read from \(written) as \(again?.fileName as Any)")
    }
    let isComplete =
      (again?.fileName == nil) == (disposition.fileName == nil)
      && (again?.name == nil) == (disposition.name == nil)
    try require(isComplete, "a name is added or lost in \(written)")
  }
}

/// Writes an HTTP archive part by part, in the order in which ``ArchiveReader`` reads one. Each member of the document and
/// of the log, and each entry, is a line.
package struct ArchiveWriter {
  private let write: ([UInt8]) throws -> Void
  /// Whether the innermost object or list has no element yet.
  private var isEmpty = true
  private var names: Set<String> = []

  /// Begins an archive whose bytes are passed to `write`.
  package init(_ write: @escaping ([UInt8]) throws -> Void) throws {
    self.write = write
    try write(Array("{".utf8))
  }

  package mutating func beginLog() throws {
    try separate()
    try write(Array("\"log\":{".utf8))
    isEmpty = true
  }

  /// Writes the members of the object in `json`, which is without white space.
  package mutating func members(_ json: [UInt8], named name: String) throws {
    try separate()
    names.insert(name)
    try write(Array(json.dropFirst().dropLast()))
  }

  package mutating func beginEntries() throws {
    try separate()
    try write(Array("\"entries\":[".utf8))
    isEmpty = true
  }

  /// Writes an entry as JSON.
  package mutating func entry(_ json: [UInt8]) throws {
    try separate()
    try write(json)
  }

  package mutating func endEntries() throws {
    try write(Array("\n]".utf8))
    isEmpty = false
  }

  /// Ends the log. Adds the version and the creator, which are required, if they are missing.
  /// - Parameter creator: the creator of an archive that states none; with `nil`, the archive is for reading again only.
  package mutating func endLog(creator: ArchiveValue?) throws {
    if !names.contains("version") {
      try members(ArchiveValue.object([.init("version", ArchiveValue("1.2"))]).json, named: "version")
    }
    if let creator, !names.contains("creator") {
      try members(ArchiveValue.object([.init("creator", creator)]).json, named: "creator")
    }
    try write(Array("\n}".utf8))
    isEmpty = false
  }

  /// Ends the archive.
  package mutating func finish() throws { try write(Array("}\n".utf8)) }

  private mutating func separate() throws {
    try write(Array((isEmpty ? "\n" : ",\n").utf8))
    isEmpty = false
  }
}

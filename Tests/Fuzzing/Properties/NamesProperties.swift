import HTTPClient
import SnapshotFormat

extension FuzzedParser {
  /// File names of identifiers stay in their folder and can be converted back. Ids are parsed as they are formatted.
  func checkNames(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    try checkRecordingName(RecordingName(text), of: text)
    try checkRecordingName(RecordingName(RecordingName(text), call: input.count), of: text)
    if let name = RecordingName(fileName: text) {
      try require(name.description.utf8.elementsEqual(text.utf8), "\(text) is written as \(name)")
    }
    if let id = SnapshotID(text) {
      try require(
        SnapshotID(id.description) == id && id.description.utf8.elementsEqual(text.lowercased().utf8),
        "\(text) is written as \(id)")
    }
    if let digest = ContentDigest(hexadecimal: text) {
      let written = digest.description
      try require(written.utf8.elementsEqual(text.lowercased().utf8), "\(text) is written as \(digest)")
    }
    if let report = ReportID(text) {
      let parts = report.description.split(separator: "/", omittingEmptySubsequences: false)
      try require(
        (1...128).contains(text.utf8.count) && !parts.contains { ["", ".", ".."].contains($0) }
          && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F },
        "a report of that name: \(text.debugDescription)")
    }
    if let authority = Authority(text) {
      try require(
        text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/@?#\\".utf8.contains($0) }
          && authority.text == text,
        "an authority: \(text.debugDescription)")
    }
  }

  private func checkRecordingName(_ name: RecordingName, of identifier: String) throws {
    let file = name.description
    try require(
      (1...200).contains(file.utf8.count)
        && file.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/\\:*?\"<>|".utf8.contains($0) }
        && !file.hasPrefix(".") && !file.hasSuffix(".") && file == file.lowercased(),
      "the file of \(identifier.debugDescription) is \(file)")
    try require(RecordingName(fileName: file) == name, "\(file) is parsed to another name")
    if let known = name.identifier {
      try require(known == identifier, "\(file) stands for \(known.debugDescription)")
    }
  }
}

package import Redaction
package import SnapshotFormat

extension Redactor {
  /// Redacts the note and the fields of a bug report. A text that becomes too long for a manifest is cut off.
  package func redactWords(of manifest: inout Manifest) {
    guard !rules.isEmpty else { return }
    let limits = Manifest.Limits.default
    manifest.note = manifest.note.map {
      Self.cut(redact(words: $0), to: max(limits.noteLength, $0.utf8.count))
    }
    for (name, value) in manifest.fields {
      let left = redact(field: name, value, as: "")
      manifest.fields[name] = Self.cut(left, to: max(limits.fieldLength, value.utf8.count))
    }
  }

  private static func cut(_ text: String, to length: Int) -> String {
    var end = min(length, text.utf8.count)
    while true {
      if let whole = String(text.utf8.prefix(end)) { return whole }
      end -= 1
    }
  }
}

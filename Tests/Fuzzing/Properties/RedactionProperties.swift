import Foundation
import JSONText
import Redaction
import SnapshotViewer

extension FuzzedParser {
  /// A document that was valid is valid after redaction, and the values of secret names are gone.
  func checkRedaction(_ input: [UInt8]) throws {
    // In what is kept although its structure is not understood, each byte of a secret is replaced. That can make a property
    // list whose objects overlap invalid, which no program writes.
    let unknown: UnknownBinaries = input.starts(with: "bplist00".utf8) ? .drop : .keep
    let left: [UInt8]
    do {
      left = Array(
        try Redactor(rules: .usualSecrets, unknownBinaries: unknown).redact(Data(input), as: "a"))
    } catch {
      try require(!"\(error)".isEmpty, "no description for a failure")
      return
    }
    if isJSON(input) { try require(isJSON(left), "JSON has become invalid") }
    if try isPropertyList(input) {
      try require(try isPropertyList(left), "a property list has become invalid")
    }
  }

  private func isJSON(_ bytes: [UInt8]) -> Bool {
    var tokenizer = JSONTokenizer()
    tokenizer.feed(bytes)
    tokenizer.finish()
    do throws(JSONFailure) {
      while try tokenizer.next() != nil {}
      return tokenizer.isComplete
    } catch {
      return false
    }
  }

  private func isPropertyList(_ bytes: [UInt8]) throws -> Bool {
    guard bytes.starts(with: "bplist00".utf8) else { return false }
    do throws(PropertyListFailure) {
      return try PropertyList.json(of: bytes, .binary, limits: PropertyList.Limits()) != nil
    } catch {
      return false
    }
  }
}

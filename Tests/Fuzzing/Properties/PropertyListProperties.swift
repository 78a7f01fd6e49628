import JSONText
import SnapshotViewer

extension FuzzedParser {
  /// A property list is refused, or converted to a JSON document within the limits.
  func checkPropertyList(_ input: [UInt8]) throws {
    var limits = PropertyList.Limits()
    (limits.size, limits.depth, limits.values, limits.bytes) = (1 << 20, 32, 5_000, 100_000)
    for form in [PropertyList.Form.binary, .xml] {
      let json: [UInt8]
      do throws(PropertyListFailure) {
        guard let converted = try PropertyList.json(of: input, form, limits: limits) else { continue }
        json = converted
      } catch {
        try require(!error.description.isEmpty, "no description for \(error.reason)")
        if let offset = error.offset {
          try require((0...input.count).contains(offset), "the failure is at byte \(offset)")
        }
        continue
      }
      try require(json.count <= limits.bytes, "the document has \(json.count) bytes")
      try checkDocument(json, limits)
    }
  }

  private func checkDocument(_ json: [UInt8], _ limits: PropertyList.Limits) throws {
    var configuration = JSONTokenizer.Configuration()
    configuration.depth = limits.depth
    var tokenizer = JSONTokenizer(configuration)
    tokenizer.feed(json)
    tokenizer.finish()
    var values = 0
    do throws(JSONFailure) {
      while let token = try tokenizer.next() {
        if ![.key, .endObject, .endArray].contains(token) { values += 1 }
      }
    } catch {
      throw BrokenProperty(description: "the document is not JSON: \(error)")
    }
    try require((1...limits.values).contains(values), "the document has \(values) values")
  }
}

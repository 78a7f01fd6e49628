import JSONText

/// The parts of a file as they are written, so that what can't be decoded can be kept unchanged.
struct StoredParts {
  /// The elements of the value; `nil` if the value is not an array.
  private(set) var elements: [[UInt8]]?
  private(set) var undecoded: [UndecodedElement] = []

  /// - Parameter version: the schema of the file.
  init(_ bytes: [UInt8], version: Int) throws(JSONFailure) {
    let reader = Reader(bytes: bytes)
    for (key, part) in try reader.members(of: bytes.indices) ?? [] {
      switch key {
      case "value": elements = try reader.elements(of: part)?.map { Array(bytes[$0]) }
      case "undecoded":
        for entry in try reader.elements(of: part) ?? [] {
          undecoded.append(try Self.element(entry, reader, version: version))
        }
      default: break
      }
    }
    undecoded.sort { $0.position < $1.position }
  }

  private static func element(
    _ entry: Range<Int>, _ reader: Reader, version: Int
  ) throws(JSONFailure) -> UndecodedElement {
    var (position, schemaVersion, value) = (Int.max, version, entry)
    for (key, part) in try reader.members(of: entry) ?? [] {
      switch key {
      case "position": position = reader.integer(part) ?? position
      case "schemaVersion": schemaVersion = max(1, reader.integer(part) ?? schemaVersion)
      case "value": value = part
      default: break
      }
    }
    return UndecodedElement(
      position: max(0, position), schemaVersion: schemaVersion, json: Array(reader.bytes[value]), id: nil)
  }

  /// Finds the children of a container.
  private struct Reader {
    let bytes: [UInt8]

    func integer(_ range: Range<Int>) -> Int? { Int(String(decoding: bytes[range], as: UTF8.self)) }

    /// The ranges of the members' values; `nil` if there is no object at `range`.
    func members(of range: Range<Int>) throws(JSONFailure) -> [(key: String, value: Range<Int>)]? {
      var found: [(key: String, value: Range<Int>)] = []
      let isObject = try children(of: range, .beginObject) { key, value in found.append((key, value)) }
      return isObject ? found : nil
    }

    /// The ranges of the elements; `nil` if there is no array at `range`.
    func elements(of range: Range<Int>) throws(JSONFailure) -> [Range<Int>]? {
      var found: [Range<Int>] = []
      let isArray = try children(of: range, .beginArray) { _, value in found.append(value) }
      return isArray ? found : nil
    }

    private func children(
      of range: Range<Int>, _ kind: JSONTokenizer.Token, _ report: (String, Range<Int>) -> Void
    ) throws(JSONFailure) -> Bool {
      var configuration = JSONTokenizer.Configuration()
      // Enough for the keys of a file.
      configuration.textLength = 64
      var tokenizer = JSONTokenizer(configuration)
      tokenizer.feed(range == bytes.indices ? bytes : Array(bytes[range]))
      tokenizer.finish()
      guard try tokenizer.next() == kind else { return false }
      let base = range.lowerBound
      var key = ""
      while let token = try tokenizer.next(), tokenizer.depth > 0 {
        if token == .key {
          key = String(decoding: tokenizer.text, as: UTF8.self)
          continue
        }
        let start = tokenizer.range.lowerBound
        while tokenizer.depth > 1 { _ = try tokenizer.next() }
        report(key, base + start..<base + tokenizer.range.upperBound)
      }
      return true
    }
  }
}

import Foundation

/// The JSON format of files: keys are sorted, so that equal values make equal files, and infinities and NaN are
/// strings.
enum StoredJSON {
  /// The top-level object of a file.
  struct Envelope<Value> {
    let value: Value
  }

  /// The part of a file that is decoded first. A file without it is damaged.
  struct Header: Decodable {
    let schemaVersion: Int
    /// Whether the file contains elements that could not be decoded when it was written.
    let hasUndecoded: Bool

    private enum CodingKeys: CodingKey { case schemaVersion, undecoded, value }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      schemaVersion = try container.decode(Int.self, forKey: .schemaVersion)
      hasUndecoded = container.contains(.undecoded)
      guard schemaVersion > 0, container.contains(.value) else {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(codingPath: [], debugDescription: "it has no version or no value"))
      }
    }
  }

  static func makeEncoder(pretty: Bool = false) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return encoder
  }

  static func makeDecoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }

  /// The bytes of a file.
  static func file(version: Int, value: Data, undecoded: [UndecodedElement]) -> [UInt8] {
    var bytes = Array(#"{"schemaVersion":\#(version),"#.utf8)
    if !undecoded.isEmpty {
      bytes += #""undecoded":["#.utf8
      for (index, element) in undecoded.enumerated() {
        let head = #"{"position":\#(element.position),"schemaVersion":\#(element.schemaVersion),"value":"#
        bytes += (index == 0 ? head : "," + head).utf8
        bytes += element.json
        bytes.append(UInt8(ascii: "}"))
      }
      bytes += "],".utf8
    }
    bytes += #""value":"#.utf8
    bytes += value
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }
}

extension StoredJSON.Envelope: Decodable where Value: Decodable {}

import Foundation

/// How values become JSON in files: keys in order, so that equal values are equal files, and floating-point numbers
/// that JSON has no words for spelled out.
enum StoredJSON {
  /// What a file holds.
  struct Envelope<Value> {
    let schemaVersion: Int
    let value: Value
  }

  /// What is read first.
  struct Header: Decodable {
    let schemaVersion: Int
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
}

extension StoredJSON.Envelope: Encodable where Value: Encodable {}
extension StoredJSON.Envelope: Decodable where Value: Decodable {}

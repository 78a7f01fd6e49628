import Foundation

/// The JSON format of files: keys are sorted, so that equal values make equal files, and infinities and NaN are
/// strings.
enum StoredJSON {
  /// The top-level object of a file.
  struct Envelope<Value> {
    let schemaVersion: Int
    let value: Value
  }

  /// The part of a file that is decoded first.
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

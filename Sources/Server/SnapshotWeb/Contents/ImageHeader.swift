import SnapshotFormat

/// The dimensions of an image, read from the first bytes of a file. Supports the formats that all browsers display.
struct ImageHeader: Sendable, Hashable {
  /// The formats.
  enum Format: String, Sendable, Hashable {
    case png, gif, webp, jpeg

    /// The media type.
    var mediaType: String { "image/\(rawValue)" }
  }

  /// The format.
  let format: Format
  /// The width and height in pixels.
  let width: Int
  let height: Int

  /// The maximum size of an image to display, in bytes, and the maximum number of pixels. A browser needs four bytes of
  /// memory per pixel, even if the file is small.
  static let maximumSize: Int64 = 32 << 20
  static let maximumPixels = 40_000_000

  /// Whether the image does not exceed the maximum number of pixels. The dimensions in the file are untrusted.
  var hasFewPixels: Bool {
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    return !overflow && pixels <= Self.maximumPixels
  }

  /// Whether a file with this name is served as an image.
  static func isShown(path: String) -> Bool {
    let fileName = String(path.split(separator: "/").last ?? "")
    // The number of the call can follow a recording's name.
    let name = RecordingName(fileName: fileName)?.stem ?? fileName
    return ["png", "jpg", "jpeg", "gif", "webp"].contains { name.lowercased().hasSuffix(".\($0)") }
  }

  /// Parses the start of an image. Returns `nil` if the format is not supported or `bytes` does not contain the
  /// dimensions.
  init?(_ bytes: [UInt8]) {
    let readers: [(Format, ([UInt8]) -> (Int, Int)?)] = [
      (.png, Self.png), (.gif, Self.gif), (.webp, Self.webP), (.jpeg, Self.jpeg),
    ]
    for (format, measures) in readers {
      guard let (width, height) = measures(bytes) else { continue }
      guard width > 0, height > 0 else { return nil }
      (self.format, self.width, self.height) = (format, width, height)
      return
    }
    return nil
  }

  private static func png(_ bytes: [UInt8]) -> (Int, Int)? {
    guard bytes.count >= 24, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
      bytes[12..<16].elementsEqual("IHDR".utf8)
    else { return nil }
    return (Int(big(bytes[16..<20])), Int(big(bytes[20..<24])))
  }

  private static func gif(_ bytes: [UInt8]) -> (Int, Int)? {
    guard bytes.count >= 10, bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) else {
      return nil
    }
    return (little(bytes[6..<8]), little(bytes[8..<10]))
  }

  /// Supports the three variants of the format (RFC 9649 §2).
  private static func webP(_ bytes: [UInt8]) -> (Int, Int)? {
    guard bytes.count >= 30, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8) else {
      return nil
    }
    switch String(decoding: bytes[12..<16], as: UTF8.self) {
    case "VP8X": return (little(bytes[24..<27]) + 1, little(bytes[27..<30]) + 1)
    case "VP8L":
      let bits = little(bytes[21..<25])
      return (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
    case "VP8 ": return (little(bytes[26..<28]) & 0x3FFF, little(bytes[28..<30]) & 0x3FFF)
    default: return nil
    }
  }

  /// Searches the frame header, which can follow other segments.
  private static func jpeg(_ bytes: [UInt8]) -> (Int, Int)? {
    guard bytes.starts(with: [0xFF, 0xD8, 0xFF]) else { return nil }
    var index = 2
    while index + 9 < bytes.count, bytes[index] == 0xFF {
      let marker = bytes[index + 1]
      switch marker {
      case 0xFF: index += 1
      case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
        return (Int(big(bytes[(index + 7)..<(index + 9)])), Int(big(bytes[(index + 5)..<(index + 7)])))
      default: index += 2 + Int(big(bytes[(index + 2)..<(index + 4)]))
      }
    }
    return nil
  }

  private static func big(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  private static func little(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}

import SnapshotFormat

/// What the first bytes of a picture say of it, in the forms that all browsers show.
struct ImageHeader: Hashable {
  /// How many points wide and high it is.
  let width: Int
  let height: Int

  /// The most bytes of a picture that is shown, and the most points: a browser takes four bytes for each, however few
  /// the file has.
  static let maximumSize: Int64 = 32 << 20
  static let maximumPixels = 40_000_000

  /// Whether it has no more points than a picture that is shown may have. Whoever made the file chose both numbers.
  var hasFewPixels: Bool {
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    return !overflow && pixels <= Self.maximumPixels
  }

  /// Whether a file of that name is sent as a picture.
  static func isShown(path: String) -> Bool {
    let fileName = String(path.split(separator: "/").last ?? "")
    // Behind the name of a recording may stand the number of its call.
    let name = RecordingName(fileName: fileName)?.stem ?? fileName
    return ["png", "jpg", "jpeg", "gif", "webp"].contains { name.lowercased().hasSuffix(".\($0)") }
  }

  /// Reads the beginning of a picture; `nil` where it is none of these, or its measures are not among `bytes`.
  init?(_ bytes: [UInt8]) {
    let measures =
      Self.png(bytes) ?? Self.gif(bytes) ?? Self.webP(bytes) ?? Self.jpeg(bytes)
    guard let (width, height) = measures, width > 0, height > 0 else { return nil }
    (self.width, self.height) = (width, height)
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

  /// Of the three kinds of the container (RFC 9649 §2).
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

  /// Looks for the frame's header behind what else may come first.
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

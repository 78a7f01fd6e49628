import Foundation
import SystemIO

/// One of the two files of ``CriticalValues``: a line with the CRC-32 of the rest, then JSON.
///
///     0d4a1185
///     {"generation":7,"values":{"userID":"u-4711"}}
struct CriticalCopy: Sendable {
  /// The decoded contents of a copy.
  struct Contents: Codable, Hashable, Sendable {
    /// Increases with each change.
    var generation: UInt64
    var values: [String: String]
  }

  /// The result of reading a copy.
  enum State {
    case intact(Contents)
    case missing
    case damaged(String)
    case unreadable(String)

    var contents: Contents? {
      guard case .intact(let contents) = self else { return nil }
      return contents
    }

    /// Why the copy had to be restored.
    var reason: String {
      switch self {
      case .intact: "it was older than the other copy"
      case .missing: "it was missing"
      case .damaged(let reason), .unreadable(let reason): reason
      }
    }
  }

  let path: String
  let disk: Disk

  /// An upper bound for all values together, even if each character is escaped.
  private static let byteLimit =
    CriticalValues.Limits.values * (CriticalValues.Limits.keyBytes + CriticalValues.Limits.valueBytes) * 6
    + 4096

  func read() -> State {
    do {
      guard let bytes = try disk.read(path, Self.byteLimit + 1) else { return .missing }
      return Self.decoded(bytes)
    } catch {
      return .unreadable("\(error)")
    }
  }

  private static func decoded(_ bytes: [UInt8]) -> State {
    guard bytes.count <= byteLimit else { return .damaged("it is larger than \(byteLimit) bytes") }
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return .damaged("it has no checksum") }
    let body = bytes[(end + 1)...]
    guard Array(checksum(body).utf8) == Array(bytes[..<end]) else {
      return .damaged("its checksum is wrong")
    }
    do {
      return .intact(try JSONDecoder().decode(Contents.self, from: Data(body)))
    } catch {
      return .damaged("\(error)")
    }
  }

  func write(_ contents: Contents) throws(RepositoryError) {
    let body: [UInt8]
    do {
      body = Array(try StoredJSON.makeEncoder().encode(contents))
    } catch {
      throw RepositoryError(.notEncodable, "\(error)")
    }
    do {
      try disk.replace(path, Array((Self.checksum(body[...]) + "\n").utf8) + body)
    } catch {
      throw RepositoryError(notWritten: error)
    }
  }

  /// Renames the file so that it is no longer used. Returns the new path.
  func setAside() throws(RepositoryError) -> String {
    let aside = path + ".corrupt"
    do {
      try Folder.replace(aside, with: path)
      try Folder.synchronize(Folder.parent(of: path))
    } catch {
      throw RepositoryError(.unreadable, "a file can't be set aside: \(error)")
    }
    return aside
  }

  /// CRC-32 (ISO 3309) as eight hexadecimal digits.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> String {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    let digits = String(~crc, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

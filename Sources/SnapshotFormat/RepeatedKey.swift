import Foundation

/// Looks for an object of a JSON document that has a key twice. Readers differ in which of the two counts, so that
/// such a document says one thing to one of them and something else to another (RFC 8259 §4).
enum RepeatedKey {
  private struct Level {
    var keys: Set<String>?
    var wantsKey: Bool
  }

  /// The first key that is repeated in the document `bytes`, which is known to be well formed and in UTF-8.
  static func first(in bytes: [UInt8]) -> String? {
    var levels: [Level] = []
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "{"): levels.append(Level(keys: [], wantsKey: true))
      case UInt8(ascii: "["): levels.append(Level(keys: nil, wantsKey: false))
      case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = levels.popLast()
      case UInt8(ascii: ","):
        if let last = levels.indices.last { levels[last].wantsKey = levels[last].keys != nil }
      case UInt8(ascii: "\""):
        let end = endOfString(in: bytes, from: index)
        if let last = levels.indices.last, levels[last].wantsKey {
          let key = text(of: bytes[index...end])
          guard levels[last].keys?.insert(key).inserted != false else { return key }
          levels[last].wantsKey = false
        }
        index = end
      default: break
      }
      index += 1
    }
    return nil
  }

  /// Where the quote stands that ends the string which begins at `start`.
  private static func endOfString(in bytes: [UInt8], from start: Int) -> Int {
    var index = start + 1
    while index < bytes.count - 1, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index, bytes.count - 1)
  }

  /// A string, its quotes taken off and its escapes read: `"\u0069d"` is `id`.
  private static func text(of quoted: ArraySlice<UInt8>) -> String {
    let plain = String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
    guard quoted.contains(UInt8(ascii: "\\")) else { return plain }
    do {
      return try JSONDecoder().decode(String.self, from: Data(quoted))
    } catch {
      return plain
    }
  }
}

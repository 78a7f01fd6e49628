/// Finds the end of a container without reading what is in it. The document is known to be valid.
struct JSONSkip: Sendable {
  /// The number of containers that have not ended.
  private var depth = 1
  private var isInText = false
  private var isEscaped = false

  /// The index after the end of the container that is open at `start`, or `nil` if it ends behind these bytes. The next
  /// call continues with the bytes that follow.
  mutating func end(in bytes: [UInt8], from start: Int) -> Int? {
    var index = start
    while true {
      if isEscaped, index < bytes.count {
        isEscaped = false
        index += 1
      }
      index = isInText ? JSONRun.plainEnd(bytes, from: index) : JSONRun.scalarEnd(bytes, from: index)
      guard index < bytes.count else { return nil }
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""): isInText.toggle()
      case UInt8(ascii: "\\"): isEscaped = isInText
      case _ where isInText: break
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
  }
}

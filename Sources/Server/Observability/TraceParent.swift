package import Tracing

/// The trace of a request, which its caller states in `traceparent` (W3C Trace Context, level 2).
package struct TraceParent: Sendable, Hashable, LosslessStringConvertible {
  /// 32 lower-case hexadecimal digits, not all zero.
  package let traceID: String
  /// The caller's span: 16 lower-case hexadecimal digits, not all zero.
  package let spanID: String
  /// Whether the caller may have recorded trace data.
  package let isSampled: Bool

  /// Reads a field's value. Returns `nil` if it is malformed; it must then be ignored (§2.2.2).
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 55, let version = Self.hex(bytes[0..<2]), version != "ff" else { return nil }
    // Later versions can have additional content after another dash.
    guard bytes.count == 55 || (version != "00" && bytes[55] == UInt8(ascii: "-")) else { return nil }
    guard [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
      let trace = Self.hex(bytes[3..<35]), trace.contains(where: { $0 != "0" }),
      let span = Self.hex(bytes[36..<52]), span.contains(where: { $0 != "0" }),
      let flags = Self.hex(bytes[53..<55]), let bits = UInt8(flags, radix: 16)
    else { return nil }
    traceID = trace
    spanID = span
    isSampled = bits & 1 == 1
  }

  /// The value as a field of version 00.
  package var description: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

  private static func hex(_ digits: ArraySlice<UInt8>) -> String? {
    let isLowerHex: (UInt8) -> Bool = { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    return digits.allSatisfy(isLowerHex) ? String(decoding: digits, as: UTF8.self) : nil
  }
}

extension ServiceContext {
  private enum Key: ServiceContextKey {
    typealias Value = TraceParent
    static let nameOverride: String? = "traceparent"
  }

  /// The trace of the request that the current task processes.
  package var traceParent: TraceParent? {
    get { self[Key.self] }
    set { self[Key.self] = newValue }
  }
}

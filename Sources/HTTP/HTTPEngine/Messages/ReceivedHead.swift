import HTTPTypes
import SystemIO

/// A received head: one copy of its bytes, which are parsed again when a handler accesses a part.
final class ReceivedHead: Sendable {
  private let bytes: [UInt8]
  private let facts: RequestHead
  /// A number that identifies the request.
  let number: UInt64
  private let fields = Lock<HTTPFields?>(nil)
  /// The value that the handler attached to the request.
  let userInfo = Lock<(any AnyObject & Sendable)?>(nil)

  /// - Parameter bytes: exactly the head that `facts` describes.
  init(_ bytes: UnsafeRawBufferPointer, facts: RequestHead, number: UInt64) {
    self.bytes = Array(bytes)
    self.facts = facts
    self.number = number
  }

  var method: HTTPRequest.Method {
    bytes.withUnsafeBytes { all in
      let name = UnsafeRawBufferPointer(rebasing: all[facts.method.range])
      if name.equals("GET") { return .get }
      if name.equals("POST") { return .post }
      if name.equals("HEAD") { return .head }
      if name.equals("PUT") { return .put }
      // The parser accepts only tokens, and every token is a valid method.
      return HTTPRequest.Method(String(decoding: name, as: UTF8.self)) ?? .get
    }
  }

  var path: String {
    if !facts.path.isEmpty { return text(facts.path) }
    return facts.query == nil && method == .options ? "*" : "/"
  }

  var query: String? { facts.query.map(text) }

  var authority: String { text(facts.authority) }

  /// The client's id for the request, or one that the server created.
  var id: String { facts.requestID.map(text) ?? Self.text(ofNumber: number) }

  /// The head's length in bytes.
  var length: Int { bytes.count }

  /// Returns twelve characters of an alphabet of 32. They fit into a `String` without an allocation.
  static func text(ofNumber number: UInt64) -> String {
    let alphabet: StaticString = "0123456789abcdefghjkmnpqrstvwxyz"
    return String(unsafeUninitializedCapacity: 12) { buffer in
      for index in 0..<12 {
        buffer[index] = alphabet.utf8Start[Int(number >> UInt64(index * 5) & 31)]
      }
      return 12
    }
  }

  var headerFields: HTTPFields {
    fields.withLock { fields in
      if let fields { return fields }
      let made = HTTPFields(judgedLines: bytes[facts.fieldsStart...], without: FieldLines.ofConnection)
      fields = made
      return made
    }
  }

  private func text(_ span: RequestHead.Span) -> String {
    String(decoding: bytes[span.range], as: UTF8.self)
  }
}

import HTTPTypes
import Synchronization
import SystemIO

/// A head as it came over the wire: one copy of its bytes, read again where a handler asks for a part.
final class ReceivedHead: Sendable {
  private let bytes: [UInt8]
  private let facts: RequestHead
  /// The other end of the connection.
  let peer: SocketAddress
  /// Unlike that of other requests.
  let number: UInt64
  private let fields = Mutex<HTTPFields?>(nil)
  /// What the handler has to say of the request.
  let note = Mutex<(any AnyObject & Sendable)?>(nil)

  /// - Parameter bytes: the head and nothing else, as `facts` describes it.
  init(_ bytes: UnsafeRawBufferPointer, facts: RequestHead, peer: SocketAddress, number: UInt64) {
    self.bytes = Array(bytes)
    self.facts = facts
    self.peer = peer
    self.number = number
  }

  var method: HTTPRequest.Method {
    bytes.withUnsafeBytes { all in
      let name = UnsafeRawBufferPointer(rebasing: all[facts.method.range])
      if name.equals("GET") { return .get }
      if name.equals("POST") { return .post }
      if name.equals("HEAD") { return .head }
      if name.equals("PUT") { return .put }
      // The parser lets only tokens through, and every token is a method.
      return HTTPRequest.Method(String(decoding: name, as: UTF8.self)) ?? .get
    }
  }

  var path: String {
    if !facts.path.isEmpty { return text(facts.path) }
    return facts.query == nil && method == .options ? "*" : "/"
  }

  var query: String? { facts.query.map(text) }

  var authority: String { text(facts.authority) }

  /// What the client calls the request, or else a name of the server's making.
  var id: String { facts.requestID.map(text) ?? Self.text(ofNumber: number) }

  /// The head's length in bytes.
  var length: Int { bytes.count }

  /// Twelve characters out of 32, which fit into a `String` without an allocation.
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
      let made = makeFields()
      fields = made
      return made
    }
  }

  private func makeFields() -> HTTPFields {
    var fields = HTTPFields()
    var start = facts.fieldsStart
    // The parser has judged every line: each ends with CR LF and holds a token, a colon and a value.
    while let end = bytes[start...].firstIndex(of: .carriageReturn), end > start {
      if let colon = bytes[start..<end].firstIndex(of: .colon),
        let name = HTTPField.Name(String(decoding: bytes[start..<colon], as: UTF8.self)),
        !Self.ofConnection.contains(name)
      {
        let value = bytes[(colon + 1)..<end]
        let isBlank: (UInt8) -> Bool = { $0 == .space || $0 == .tab }
        if let first = value.firstIndex(where: { !isBlank($0) }),
          let last = value.lastIndex(where: { !isBlank($0) })
        {
          fields.append(HTTPField(name: name, value: value[first...last]))
        } else {
          fields.append(HTTPField(name: name, value: ""))
        }
      }
      start = end + 2
    }
    return fields
  }

  /// What one hop says to the next (RFC 9110 §7.6.1), and the name of the host, which is the authority.
  private static let ofConnection: Set<HTTPField.Name> = Set(
    [
      "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade",
    ].compactMap { HTTPField.Name($0) })

  private func text(_ span: RequestHead.Span) -> String {
    String(decoding: bytes[span.range], as: UTF8.self)
  }
}

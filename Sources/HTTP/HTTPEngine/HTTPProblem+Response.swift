import HTTPSemantics
import HTTPTypes

extension HTTPProblem {
  /// The answer that tells this problem: a JSON object of `type`, `title`, `status`, `detail`, `requestID` and the
  /// problem's ``numbers``, as `application/problem+json`, with the same id in `X-Request-Id`.
  public func response(requestID: String) -> HTTPServerResponse {
    var json = "{\"type\":"
    json.appendJSONString(type)
    json += ",\"title\":"
    json.appendJSONString(title)
    json += ",\"status\":\(status.code),\"detail\":"
    json.appendJSONString(detail)
    json += ",\"requestID\":"
    json.appendJSONString(requestID)
    for (name, number) in numbers {
      json += ","
      json.appendJSONString(name)
      json += ":\(number)"
    }
    json += "}\n"
    var fields = headerFields
    fields[.contentType] = "application/problem+json"
    fields[.xRequestID] = requestID
    fields[.xContentTypeOptions] = "nosniff"
    return HTTPServerResponse(status: status, headerFields: fields, body: .bytes(Array(json.utf8)))
  }
}

extension String {
  /// Appends `text` as a JSON string (RFC 8259 §7), with everything escaped that could end it or a script element.
  fileprivate mutating func appendJSONString(_ text: String) {
    let hex = Array("0123456789abcdef".unicodeScalars)
    unicodeScalars.append("\"")
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": append("\\\"")
      case "\\": append("\\\\")
      case "\n": append("\\n")
      case "\r": append("\\r")
      case "\t": append("\\t")
      case "<", ">", "&", "\u{7F}", "\u{2028}", "\u{2029}", ..<" ":
        append("\\u")
        for shift in [12, 8, 4, 0] { unicodeScalars.append(hex[Int(scalar.value >> UInt32(shift) & 15)]) }
      default: unicodeScalars.append(scalar)
      }
    }
    unicodeScalars.append("\"")
  }
}

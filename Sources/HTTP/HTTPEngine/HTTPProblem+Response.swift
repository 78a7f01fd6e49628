import HTTPSemantics
import HTTPTypes
import JSONText

extension HTTPProblem {
  /// The answer that tells this problem: a JSON object of `type`, `title`, `status`, `detail`, `requestID` and the
  /// problem's ``numbers``, as `application/problem+json`, with the same id in `X-Request-Id`.
  public func response(requestID: String) -> HTTPServerResponse {
    var json: [UInt8] = []
    func append(_ name: String, _ value: String) {
      json.append(UInt8(ascii: json.isEmpty ? "{" : ","))
      JSONString.append(name, to: &json)
      json.append(UInt8(ascii: ":"))
      json += value.utf8
    }
    func append(_ name: String, text: String) {
      append(name, "")
      JSONString.append(text, to: &json, escapesMarkup: true)
    }
    append("type", text: type)
    append("title", text: title)
    append("status", "\(status.code)")
    append("detail", text: detail)
    append("requestID", text: requestID)
    for (name, number) in numbers { append(name, "\(number)") }
    json += "}\n".utf8
    var fields = headerFields
    fields[.contentType] = "application/problem+json"
    fields[.xRequestID] = requestID
    fields[.xContentTypeOptions] = "nosniff"
    return HTTPServerResponse(status: status, headerFields: fields, body: .bytes(json))
  }
}

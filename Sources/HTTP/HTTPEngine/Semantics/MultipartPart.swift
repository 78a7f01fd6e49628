import HTTPSemantics
public import HTTPTypes

/// The head of one part of a form (RFC 7578 §4).
public struct MultipartPart: Sendable, Hashable {
  /// The form field's name.
  public let name: String
  /// The name of the file that the part holds, where it says so; never to be used as a path.
  public let fileName: String?
  /// The part's fields.
  public let headerFields: HTTPFields

  /// Reads a head: lines that each end in CRLF.
  init(head: some Collection<UInt8>) throws(MultipartError) {
    guard let text = String(validating: head, as: UTF8.self) else { throw .head }
    var fields: HTTPFields = [:]
    // Swift counts CR and LF as one character.
    for line in text.split(separator: "\r\n") {
      guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
        throw .head
      }
      var value = line[colon...].dropFirst()
      value = value.drop { $0 == " " || $0 == "\t" }
      while let last = value.last, last == " " || last == "\t" { value.removeLast() }
      guard HTTPField.isValidValue(String(value)) else { throw .head }
      fields.append(HTTPField(name: name, value: String(value)))
    }
    let dispositions = fields[values: .contentDisposition]
    guard dispositions.count == 1, let disposition = ContentDisposition(parsing: dispositions[0]),
      disposition.kind == "form-data", let name = disposition.name
    else { throw .disposition }
    self.name = name
    fileName = disposition.fileName
    headerFields = fields
  }
}

import Foundation
import JSONText

/// Makes the body of a request from the parameters of a form, for archives that do not have its text.
enum FormBody {
  /// The body; `nil` if there are no parameters, or if it can't be made from them: that of a form with files has a
  /// boundary, and their contents may be missing.
  static func make(_ posted: ArchiveValue) -> Data? {
    let parameters = posted["params"]?.elements ?? []
    guard !parameters.isEmpty else { return nil }
    let type = posted["mimeType"]?.text ?? ""
    guard type.lowercased().hasPrefix("multipart/") else {
      return Data(parameters.map(pair).joined(separator: "&").utf8)
    }
    guard let boundary = boundary(of: type) else { return nil }
    var body = Data()
    for parameter in parameters {
      guard let name = parameter["name"]?.text, let value = parameter["value"]?.bytes else { return nil }
      body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"".utf8)
      if let file = parameter["fileName"]?.text { body += Data("; filename=\"\(file)\"".utf8) }
      if let type = parameter["contentType"]?.text { body += Data("\r\nContent-Type: \(type)".utf8) }
      body += Data("\r\n\r\n".utf8) + Data(value) + Data("\r\n".utf8)
    }
    return body + Data("--\(boundary)--\r\n".utf8)
  }

  private static func boundary(of type: String) -> String? {
    for part in type.split(separator: ";").dropFirst() {
      let words = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      guard words.count == 2, words[0].lowercased() == "boundary" else { continue }
      let boundary = words[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
      return boundary.isEmpty ? nil : boundary
    }
    return nil
  }

  /// A parameter as in `application/x-www-form-urlencoded`. Some programs write the parameters as they were sent, others
  /// decode them; one that has only characters of an encoded one is taken as it is.
  private static func pair(_ parameter: ArchiveValue) -> String {
    let name = encoded(parameter["name"]?.bytes ?? [])
    guard let value = parameter["value"]?.bytes else { return name }
    return name + "=" + encoded(value)
  }

  private static func encoded(_ text: [UInt8]) -> String {
    let text = String(decoding: text, as: UTF8.self)
    guard !isEncoded(Array(text.utf8)) else { return text }
    return text.addingPercentEncoding(withAllowedCharacters: plain.union([" "]))?.replacing(" ", with: "+")
      ?? ""
  }

  /// Whether the text is percent-encoded already: it has an escape, and no other character that needs one.
  private static func isEncoded(_ text: [UInt8]) -> Bool {
    var index = 0
    var hasEscape = false
    while index < text.count {
      if text[index] == UInt8(ascii: "%") {
        guard index + 2 < text.count, Hexadecimal.value(text[index + 1]) != nil,
          Hexadecimal.value(text[index + 2]) != nil
        else {
          return false
        }
        hasEscape = true
        index += 3
      } else {
        guard isPlain(text[index]) || text[index] == UInt8(ascii: "+") else { return false }
        index += 1
      }
    }
    return hasEscape
  }

  private static func isPlain(_ byte: UInt8) -> Bool { plain.contains(Unicode.Scalar(byte)) }

  private static let plain = CharacterSet(charactersIn: "a"..."z").union(
    CharacterSet(charactersIn: "A"..."Z")
  )
  .union(CharacterSet(charactersIn: "0123456789-._*"))
}

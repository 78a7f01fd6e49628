import Foundation

/// Base64 with the letters for URLs and without padding (RFC 4648 §5).
enum Base64URL {
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// Reads what ``encode(_:)`` wrote, and that alone: no bytes have two forms.
  static func decode(_ text: String) -> [UInt8]? {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    guard let data = Data(base64Encoded: standard), encode(data) == text else { return nil }
    return Array(data)
  }
}

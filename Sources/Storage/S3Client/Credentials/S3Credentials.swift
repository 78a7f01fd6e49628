/// An access key with its secret. No description, and so no log, contains the secret or the token.
package struct S3Credentials: Sendable, Hashable {
  /// The public part, which every request contains.
  package let accessKey: String
  /// Signs the requests.
  let secretKey: String
  /// Accompanies temporary credentials; `nil` for permanent ones.
  let sessionToken: String?

  /// Creates credentials; `nil` if a part is empty, or if it has characters that can't be part of a field.
  package init?(accessKey: String, secretKey: String, sessionToken: String? = nil) {
    let texts = [accessKey, secretKey] + [sessionToken].compactMap(\.self)
    guard texts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }) else {
      return nil
    }
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
  }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The access key alone.
  package var description: String { "S3Credentials(\(accessKey))" }
  /// The access key alone.
  package var debugDescription: String { description }
  /// The access key alone.
  package var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}

package import Foundation
package import Redaction
package import SnapshotFormat

extension Redactor {
  /// Returns an exchange after redaction. `identifier` is that of the recording, whose body became `redacted`.
  package func redact(
    _ exchange: StoredExchange, body: Data, redacted: Data, as identifier: String
  ) throws(Failure) -> StoredExchange {
    guard !rules.isEmpty else { return exchange }
    var left = exchange
    left.requestBody = try redact(exchange.requestBody, as: identifier)
    left.description.request.url = redact(identifier: exchange.description.request.url)
    left.description.request.fields = redact(
      exchange.description.request.fields, of: exchange.requestBody, left.requestBody, identifier)
    left.description.redirect?.url = redact(identifier: exchange.description.redirect?.url ?? "")
    if let fields = exchange.description.response?.fields {
      left.description.response?.fields = redact(fields, of: body, redacted, identifier)
    }
    return left
  }

  /// The fields with digests of a body. They would tell something about what was removed from it.
  private static let digests: Set<String> = ["content-digest", "content-md5", "digest", "repr-digest"]

  /// Returns the fields of a message whose body became `redacted`. Its length follows, and its digests are left out.
  private func redact(
    _ fields: [Manifest.Exchange.Field], of body: Data, _ redacted: Data, _ identifier: String
  ) -> [Manifest.Exchange.Field] {
    let isChanged = body != redacted
    return fields.compactMap { field in
      let name = field.name.lowercased()
      if isChanged, Self.digests.contains(name) { return nil }
      var field = field
      if isChanged, name == "content-length" {
        field.value = String(redacted.count)
      } else {
        field.value = redact(field: field.name, field.value, as: identifier)
      }
      return field
    }
  }
}

extension Redactor.Failure {
  /// The reason in manifests.
  package var reason: Manifest.Dropped.Reason {
    switch limit {
    case .tooDeep: .tooDeep
    case .tooLarge: .tooLarge
    case .unknownBinary: .unknownBinary
    case .tooSlow, .outOfMemory, nil: .notRedacted
    }
  }
}

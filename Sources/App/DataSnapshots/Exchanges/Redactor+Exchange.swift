import Foundation
import Redaction
import SnapshotFormat

extension Redactor {
  /// Returns an exchange after redaction. `identifier` is that of the recording.
  func redact(_ exchange: StoredExchange, as identifier: String) throws(Failure) -> StoredExchange {
    guard !rules.isEmpty else { return exchange }
    var left = exchange
    left.requestBody = try redact(exchange.requestBody, as: identifier)
    left.description.request.url = redact(identifier: exchange.description.request.url)
    left.description.request.fields = redact(exchange.description.request.fields, as: identifier)
    left.description.redirect?.url = redact(identifier: exchange.description.redirect?.url ?? "")
    if let fields = exchange.description.response?.fields {
      left.description.response?.fields = redact(fields, as: identifier)
    }
    return left
  }

  private func redact(_ fields: [Manifest.Exchange.Field], as identifier: String) -> [Manifest.Exchange.Field]
  {
    fields.map { field in
      var field = field
      field.value = redact(field: field.name, field.value, as: identifier)
      return field
    }
  }
}

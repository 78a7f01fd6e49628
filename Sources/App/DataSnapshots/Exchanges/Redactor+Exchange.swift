import Foundation
import SnapshotFormat

extension Redactor {
  /// Returns an exchange after redaction. `identifier` is that of the recording.
  func redact(_ exchange: StoredExchange, as identifier: String) throws(Failure) -> StoredExchange {
    guard !rules.isEmpty else { return exchange }
    var left = exchange
    left.requestBody = try redact(exchange.requestBody, as: identifier)
    left.description.request.url = redact(identifier: exchange.description.request.url)
    left.description.request.fields = exchange.description.request.fields.map { redact($0, as: identifier) }
    left.description.redirect?.url = redact(identifier: exchange.description.redirect?.url ?? "")
    if let fields = exchange.description.response?.fields {
      left.description.response?.fields = fields.map { redact($0, as: identifier) }
    }
    return left
  }

  /// Removes the value of a field whose name a rule looks for, and what the rules for text find in `name: value`.
  private func redact(_ field: Manifest.Exchange.Field, as identifier: String) -> Manifest.Exchange.Field {
    var field = field
    for rule in rules where rule.applies(to: identifier) {
      for step in rule.steps {
        switch step {
        case .keys(let isWanted):
          if isWanted(field.name) { field.value = RedactionRule.mark }
        case .text(let rule):
          field.value = Self.redact(field, rule)
        case .path, .data: break
        }
      }
    }
    return field
  }

  private static func redact(_ field: Manifest.Exchange.Field, _ rule: TextRule) -> String {
    let head = Array("\(field.name): ".utf8)
    let line = head + Array(field.value.utf8)
    var value: [UInt8] = []
    var position = head.count
    for match in rule.matches(in: line) where match.upperBound > position {
      value += line[position..<max(position, match.lowerBound)]
      value += Array(RedactionRule.mark.utf8)
      position = match.upperBound
    }
    return String(decoding: value + line[position...], as: UTF8.self)
  }
}

import Foundation
import Redaction
import SnapshotStore

extension RequiredRedaction {
  /// The most rules that can be required.
  private static let countLimit = 100

  /// Every setting below `server.redaction`.
  static let settings: [Setting<RequiredRedaction>] = [
    .init(name: "required", wanted: "at most \(countLimit) names of redaction rules, separated by commas") {
      redaction, text in
      let names = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      let rules = names.flatMap { name in
        name == "usualSecrets" ? [RedactionRule].usualSecrets.map(\.name) : [name]
      }
      guard rules.count <= countLimit, !rules.contains("") else { return false }
      redaction.rules = rules
      return true
    },
    .init(name: "otherwise", wanted: "‘refuse’ or ‘mark’") { redaction, text in
      guard let consequence = Consequence(rawValue: text) else { return false }
      redaction.otherwise = consequence
      return true
    },
  ]
}

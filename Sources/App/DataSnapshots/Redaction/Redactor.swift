import Foundation
import JSONText

/// Applies rules to data before it is stored.
struct Redactor: Sendable {
  let rules: [RedactionRule]

  /// The failure of a rule.
  struct Failure: Error, CustomStringConvertible {
    let rule: String
    let cause: any Error

    var description: String { "the rule ‘\(rule)’ could not be applied, so nothing was stored: \(cause)" }
  }

  /// Returns `data` after redaction; unchanged if no rule matches. `identifier` is the data's identifier.
  func redact(_ data: Data, as identifier: String) throws(Failure) -> Data {
    var document = RedactableDocument(data)
    for rule in rules where rule.applies(to: identifier) {
      do {
        try Self.apply(rule, to: &document, identifier)
      } catch {
        throw Failure(rule: rule.name, cause: error)
      }
    }
    return document.data
  }

  /// Returns `identifier` after redaction. All text rules apply to it, even if they are limited to other identifiers.
  func redact(identifier: String) -> String {
    guard !rules.isEmpty else { return identifier }
    var text = RedactableText(utf8: Array(identifier.utf8))
    var isChanged = false
    for case .text(let rule) in rules.lazy.flatMap(\.steps) {
      isChanged = Self.replace(rule.matches(in: text.bytes), in: &text) || isChanged
    }
    return isChanged ? String(decoding: text.bytes, as: UTF8.self) : identifier
  }

  /// The names of the rules that apply to data with `identifier` or to the identifier itself.
  func names(for identifier: String) -> [String] {
    rules.filter { rule in
      rule.applies(to: identifier) || rule.steps.contains { if case .text = $0 { true } else { false } }
    }.map(\.name)
  }

  private static func apply(
    _ rule: RedactionRule, to document: inout RedactableDocument, _ identifier: String
  ) throws {
    for step in rule.steps {
      if case .data(let body) = step {
        document = RedactableDocument(try body(document.data, identifier))
        continue
      }
      let json = try document.tokens(mustBeJSON: step.isAboutJSON)
      var text = document.text
      let isChanged: Bool
      switch (step, json) {
      case (.keys(let isWanted), let json?):
        var known: [String: Bool] = [:]
        isChanged = removeValues(json, of: &text) { token in
          guard case .key(let key) = token.place.last else { return false }
          if let answer = known[key] { return answer }
          let answer = isWanted(key)
          known[key] = answer
          return answer
        }
      case (.keys(let isWanted), nil):
        isChanged = replace(AssignmentScanner(wholeLine: false, isWanted).scan(text.bytes), in: &text)
      case (.path(let path), let json?):
        isChanged = removeValues(json, of: &text) { path.matches($0.place) }
      case (.text(let rule), _?):
        isChanged = removeText(rule, try document.strings(), of: &text)
      case (.text(let rule), nil):
        isChanged = replace(rule.matches(in: text.bytes), in: &text)
      case (.path, nil), (.data, _):
        isChanged = false
      }
      if isChanged { document.text = text }
    }
  }

  /// Replaces the wanted JSON values by empty values of the same kind.
  private static func removeValues(
    _ json: JSONTokens, of text: inout RedactableText, _ isWanted: (JSONTokens.Token) -> Bool
  ) -> Bool {
    var edits: [(range: Range<Int>, bytes: [UInt8])] = []
    for token in json.tokens where !token.isKey && isWanted(token) {
      // Values inside a removed value are removed with it.
      if let last = edits.last, token.range.lowerBound < last.range.upperBound { continue }
      edits.append((token.range, emptied(token.kind)))
    }
    return replace(edits, in: &text)
  }

  private static func emptied(_ kind: JSONTokens.Kind) -> [UInt8] {
    let value =
      switch kind {
      case .string: "\"\(RedactionRule.mark)\""
      case .number: "0"
      case .boolean: "false"
      case .null: "null"
      case .object: "{}"
      case .list: "[]"
      }
    return Array(value.utf8)
  }

  /// Replaces the matches of a rule in the keys, strings and numbers of JSON, after unescaping.
  private static func removeText(
    _ rule: TextRule, _ strings: RedactableDocument.Strings, of text: inout RedactableText
  ) -> Bool {
    let lines = strings.lines
    var found = rule.matches(in: lines)[...]
    var edits: [(range: Range<Int>, bytes: [UInt8])] = []
    if found.isEmpty, !rule.looksAtWholeText { return false }
    for (line, token) in strings.places {
      while let match = found.first, match.upperBound <= line.lowerBound { found.removeFirst() }
      var matches: [Range<Int>] = []
      for match in found {
        let part = match.clamped(to: line)
        if match.lowerBound >= line.upperBound { break }
        if !part.isEmpty { matches.append(part) }
      }
      if matches.isEmpty { continue }
      if token.kind == .number {
        edits.append((token.range, emptied(.number)))
      } else {
        let content = pieces(of: lines, line, matches) { _ in Array(RedactionRule.mark.utf8) }
        var string: [UInt8] = []
        JSONString.append(String(decoding: content, as: UTF8.self), to: &string)
        edits.append((token.range, string))
      }
    }
    let isChanged = replace(edits, in: &text)
    guard rule.looksAtWholeText else { return isChanged }
    return replace(rule.matches(in: text.bytes), in: &text) || isChanged
  }

  private static func replace(_ matches: [Range<Int>], in text: inout RedactableText) -> Bool {
    guard !matches.isEmpty else { return false }
    let mark = { [text] in text.mark(for: $0) }
    text.bytes = pieces(of: text.bytes, text.bytes.indices, matches, mark)
    return true
  }

  private static func replace(
    _ edits: [(range: Range<Int>, bytes: [UInt8])], in text: inout RedactableText
  ) -> Bool {
    guard !edits.isEmpty else { return false }
    var rest = edits[...]
    text.bytes = pieces(of: text.bytes, text.bytes.indices, edits.map(\.range)) { _ in
      rest.popFirst()?.bytes ?? []
    }
    return true
  }

  /// Returns the bytes in `range`, with each of `ranges` replaced.
  private static func pieces(
    of bytes: [UInt8], _ range: Range<Int>, _ ranges: [Range<Int>],
    _ replacement: (ArraySlice<UInt8>) -> [UInt8]
  ) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var position = range.lowerBound
    for match in ranges {
      result += bytes[position..<match.lowerBound]
      result += replacement(bytes[match])
      position = match.upperBound
    }
    return result + bytes[position..<range.upperBound]
  }
}

/// A condition on the terms of a record. It is met if the record has all terms of at least one alternative.
package struct SearchCondition: Sendable, Hashable {
  /// A term that the record has, or with which one of its terms begins.
  package struct Term: Sendable, Hashable {
    /// The term, or its beginning.
    package var text: String
    /// Whether longer terms match too.
    package var isPrefix: Bool

    package init(_ text: String, isPrefix: Bool = false) {
      self.text = text
      self.isPrefix = isPrefix
    }

    /// Whether `term` matches.
    package func matches(_ term: String) -> Bool {
      isPrefix ? term.utf8.starts(with: text.utf8) : term.utf8.elementsEqual(text.utf8)
    }
  }

  /// The alternatives, none of them empty.
  package var alternatives: [[Term]]

  package init(_ alternatives: [[Term]]) { self.alternatives = alternatives }

  /// Creates a condition on the value of a property. Canonically equivalent values (Unicode NFC and NFD) meet it too.
  init(_ property: SearchTerm.Property, _ value: String) {
    self.init(SearchTerm.alternatives(property, value).map { [Term($0)] })
  }

  /// Creates a condition that exactly this term meets.
  package init(_ term: String) { self.init([[Term(term)]]) }

  /// Whether a record with `terms` meets the condition.
  package func isMet(by terms: Set<String>) -> Bool {
    alternatives.contains { alternative in
      alternative.allSatisfy { term in
        terms.contains(term.text) || term.isPrefix && terms.contains(where: term.matches)
      }
    }
  }
}

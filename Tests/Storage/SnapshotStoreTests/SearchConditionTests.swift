import Foundation
import SnapshotStore
import Testing

@Suite struct SearchConditionTests {
  /// A catalogue of an earlier version has only the term of the value as it was.
  @Test func `a value that was indexed in one Unicode form is found by the other`() {
    let name = "gro\u{308}ße"
    for form in [name.precomposedStringWithCanonicalMapping, name.decomposedStringWithCanonicalMapping] {
      let terms: Set = [SearchTerm.of(.identifier, form)]
      for asked in [name, name.precomposedStringWithCanonicalMapping] {
        var query = CatalogQuery()
        query.identifier = asked
        #expect(query.conditions.count == 1)
        #expect(query.conditions.allSatisfy { $0.isMet(by: terms) })
      }
    }
    let long = String(repeating: "é", count: 60)
    let terms = SearchTerm.alternatives(.identifier, long.decomposedStringWithCanonicalMapping)
    #expect(Set(terms) == Set(SearchTerm.alternatives(.identifier, long)) && terms.count == 2)
    var query = CatalogQuery()
    query.identifier = "grosse"
    #expect(!query.conditions.contains { $0.isMet(by: [SearchTerm.of(.identifier, name)]) })
  }
}

import SnapshotFormat
import SnapshotStore
import TestSupport
import Testing

/// Bundles that were not redacted as a server requires.
@Suite struct RequiredRedactionConformance {
  @Test(arguments: StoreKind.allCases)
  func `a bundle without a required redaction is refused or marked`(kind: StoreKind) async throws {
    var validator = UploadValidator.samples
    for (rules, otherwise) in [(["a"], .refuse), (["b", "a"], .mark), (["a", "b", "c"], .refuse)]
      as [([String], RequiredRedaction.Consequence)]
    {
      validator.redaction = RequiredRedaction(rules: rules, otherwise: otherwise)
      validator.validate = { zip, depth throws(BundleError) in
        var manifest = SampleBundle.manifest(try SampleBundle.validate(zip, depth).summary.manifest.id)
        manifest.redactions = ["a", "x"]
        return BundleCheck(BundleSummary(manifest))
      }
      try await kind.withStore(validator: validator) { store async throws in
        let sample = SampleBundle()
        let failed = await failure { try await store.upload(sample) }
        switch (rules.count, otherwise) {
        case (1, _):
          #expect(failed == nil)
          #expect(try await store.record(sample.id).metadata.isEmpty)
        case (_, .mark):
          #expect(failed == nil)
          #expect(try await store.record(sample.id).metadata == [RequiredRedaction.mark: "without b"])
        case (_, .refuse):
          #expect(failed == "invalid")
          #expect(try await store.allRecords().isEmpty)
        }
      }
    }
  }
}

#if canImport(Testing)
  public import DataSnapshots
  public import Foundation
  public import Testing

  /// A trait of a test that replays a snapshot. `.replaying("BUG-123")` makes it.
  public struct ReplayTrait: TestTrait, TestScoping {
    let name: String
    let bundle: Bundle?
    let settings: ReplaySettings
    let sourceFile: String
    let sourceLocation: SourceLocation

    /// Runs a test with its own replay in ``/DataSnapshots/SnapshotMode/current``, and records what it missed.
    @concurrent public func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
      let fixture = try ReplayFixture(name, in: bundle, besides: sourceFile)
      let replay = try await FixtureReplay.open(fixture, settings)
      if let problem = replay.ageProblem {
        Issue.record("\(problem.description)", sourceLocation: sourceLocation)
      }
      let outcome = await replay.run { _ in try await function() }
      for (index, miss) in replay.misses.enumerated() { record(miss, index + 1) }
      if settings.expectsClock, await replay.ignoredClock { hint() }
      try outcome.get()
    }

    private func record(_ miss: ReplayMiss, _ number: Int) {
      Issue.record("\(miss.message)", sourceLocation: sourceLocation)
      let files = [("request", miss.request), ("nearest", miss.nearest), ("difference", miss.difference)]
      for (kind, text) in files {
        guard let text else { continue }
        Attachment.record(text, named: "\(name)-\(number)-\(kind).txt", sourceLocation: sourceLocation)
      }
    }

    private func hint() {
      #if compiler(>=6.3)
        Issue.record("\(FixtureReplay.clockHint)", severity: .warning, sourceLocation: sourceLocation)
      #endif
    }
  }

  extension Trait where Self == ReplayTrait {
    /// Gives a test its own replay of a snapshot.
    ///
    ///     @Test(.replaying("BUG-123")) func `the total is right`() async throws {
    ///       let app = NewsReader(mode: try #require(SnapshotMode.current))
    ///       …
    ///     }
    ///
    /// The fixture is `Fixtures/NAME.snapshot.zip` (or the folder `NAME.snapshot`) beside the file of the test, or in the
    /// resources of a bundle. It is verified, and unpacked into a folder that is removed after the test. No other test can
    /// reach the replay: it is in ``/DataSnapshots/SnapshotMode/current`` of this test's task only.
    ///
    /// The test fails if the app asks for something that is not recorded, even if the app handles the error: with the
    /// nearest recording and what differs. The request, that recording and the difference are attached.
    /// - Parameters:
    ///   - name: the name of the fixture.
    ///   - bundle: the resources that contain the fixture, such as `.module`; `nil` if it is beside the source file.
    ///   - afterLast: what follows the last recorded call of an identifier, unless `configuration` has a policy for it.
    ///   - isStrict: whether a call without recording fails. Otherwise the policies of `configuration` apply, and live data
    ///     may pass.
    ///   - maximumAge: the age from which the fixture fails the test; `nil` for any. Nothing is ever recorded again.
    ///   - expectsClock: whether a warning is recorded if the app never asks for ``/DataSnapshots/SnapshotMode/now``.
    ///   - configuration: the app's own configuration, whose redaction rules identifiers depend on.
    ///   - sourceFile: the file of the test.
    ///   - sourceLocation: the place of recorded issues.
    public static func replaying(
      _ name: String, from bundle: Bundle? = nil, afterLast: SnapshotMode.Policy.AfterLast = .repeat,
      isStrict: Bool = true, maximumAge: Duration? = nil, expectsClock: Bool = true,
      configuration: SnapshotMode.Configuration = SnapshotMode.Configuration(),
      sourceFile: String = #filePath, sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
      ReplayTrait(
        name: name, bundle: bundle,
        settings: ReplaySettings(
          configuration: configuration, isStrict: isStrict, afterLast: afterLast, maximumAge: maximumAge,
          expectsClock: expectsClock),
        sourceFile: sourceFile, sourceLocation: sourceLocation)
    }
  }
#endif

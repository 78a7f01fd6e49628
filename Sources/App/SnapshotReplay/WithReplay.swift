public import DataSnapshots
public import Foundation

/// Runs `body` with its own replay of a snapshot, for XCTest and programs.
///
///     func testTotal() async throws {
///       try await withReplay(of: "BUG-123") { mode in
///         let app = NewsReader(mode: mode)
///         …
///       }
///     }
///
/// Fixtures are found, and everything else works, as with the trait `replaying` of Swift Testing. The replay is in
/// ``/DataSnapshots/SnapshotMode/current`` too while `body` runs.
/// - Parameters:
///   - name: the name of the fixture.
///   - bundle: the resources that contain the fixture; `nil` if it is beside the source file.
///   - afterLast: what follows the last recorded call of an identifier, unless `configuration` has a policy for it.
///   - isStrict: whether a call without recording fails.
///   - maximumAge: the age from which the fixture is refused; `nil` for any.
///   - expectsClock: whether a line is written to stderr if the app never asks for ``/DataSnapshots/SnapshotMode/now``.
///   - configuration: the app's own configuration.
///   - sourceFile: the file of the test.
///   - body: the test.
/// - Throws: ``ReplayError`` if the fixture can't be replayed; after `body`, one that names everything that was not
///   recorded; and otherwise the error of `body`.
@discardableResult
public func withReplay<Value>(
  of name: String, from bundle: Bundle? = nil, afterLast: SnapshotMode.Policy.AfterLast = .repeat,
  isStrict: Bool = true, maximumAge: Duration? = nil, expectsClock: Bool = true,
  configuration: SnapshotMode.Configuration = SnapshotMode.Configuration(), sourceFile: String = #filePath,
  _ body: (SnapshotMode) async throws -> Value
) async throws -> Value {
  let settings = ReplaySettings(
    configuration: configuration, isStrict: isStrict, afterLast: afterLast, maximumAge: maximumAge,
    expectsClock: expectsClock)
  let replay = try await FixtureReplay.open(ReplayFixture(name, in: bundle, besides: sourceFile), settings)
  if let problem = replay.ageProblem { throw problem }
  let outcome = await replay.run(body)
  var problems = replay.misses.map { $0.difference ?? $0.message }
  if !problems.isEmpty {
    if case .failure(let error) = outcome, !(error is SnapshotMode.MissingRecording) {
      problems.append("The test ended with: \(error)")
    }
    throw ReplayError(.recordingMissing, problems.joined(separator: "\n"))
  }
  if expectsClock, await replay.ignoredClock {
    FileHandle.standardError.write(Data("\(name): \(FixtureReplay.clockHint)\n".utf8))
  }
  return try outcome.get()
}

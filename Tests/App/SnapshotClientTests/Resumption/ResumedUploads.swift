import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport

/// The environment of a test of a resumable upload: a bundle, its state file and the server.
struct ResumedUpload {
  let folder: TemporaryFolder
  let contents = makeBytes(100_000)
  let bundle: URL
  let state: URL
  let id = SnapshotID()
  let report: ReportID

  init() throws {
    folder = try TemporaryFolder()
    bundle = try folder.write(contents, to: "bundle.zip")
    state = folder.file("upload.json")
    report = try ReportID(validating: "BUG-1")
  }
}

/// A suite in which each test has its own upload.
protocol ResumedUploads {
  var upload: ResumedUpload { get }
}

extension ResumedUploads {
  var folder: TemporaryFolder { upload.folder }
  var contents: Data { upload.contents }
  var bundle: URL { upload.bundle }
  var state: URL { upload.state }
  var id: SnapshotID { upload.id }
  var report: ReportID { upload.report }
  var target: String { "/v1/reports/BUG-1/snapshots/\(id)" }

  func client(
    _ url: URL, token: String? = nil, attempts: Int = 4,
    _ change: (inout SnapshotAPIClient.Configuration) -> Void = { _ in }
  ) throws -> SnapshotAPIClient {
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.resumption.threshold = 1
    configuration.retries.attempts = attempts
    change(&configuration)
    return try SnapshotAPIClient(server: url, token: token, configuration: configuration)
  }
}

public import Foundation
public import SnapshotFormat

/// Which snapshots a list is to hold: those of which all that is said here is true. Without anything, all.
public struct SnapshotFilter: Sendable, Hashable {
  /// The bug report that they are attached to.
  public var report: ReportID?
  /// The application's identifier.
  public var application: String?
  /// The first versions of the application: 3.1 is 3.1 and whatever begins with it.
  public var minimumVersion: String?
  /// The last versions of the application: 3.1 is 3.1 and whatever begins with it.
  public var maximumVersion: String?
  /// A module that the application had registered.
  public var module: String?
  /// An identifier that is recorded.
  public var identifier: String?
  /// The device's model, its system, or system and version: `iPhone17,1`, `iOS`, `iOS 26.1`.
  public var device: String?
  /// Received at that time or later.
  public var after: Date?
  /// Received before that time.
  public var before: Date?
  /// Words that all occur in identifiers, metadata, report, application, device model or modules' names.
  public var text: String?

  /// Everything, but for `report`.
  public init(report: ReportID? = nil) { self.report = report }

  /// All but the report as the API's parameters.
  var parameters: [(name: String, value: String)] {
    let all: [(name: String, value: String?)] = [
      ("application", application), ("minVersion", minimumVersion), ("maxVersion", maximumVersion),
      ("module", module), ("identifier", identifier), ("device", device),
      ("after", after.map(SnapshotJSON.text)),
      ("before", before.map(SnapshotJSON.text)), ("text", text),
    ]
    return all.compactMap { name, value in value.map { (name, $0) } }
  }
}

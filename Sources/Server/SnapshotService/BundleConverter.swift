package import SnapshotFormat
package import SystemIO

/// Makes bundles of files in another format that are uploaded in forms.
package protocol BundleConverter: Sendable {
  /// Whether a file with this name is in the other format.
  func converts(_ fileName: String) -> Bool

  /// Reads a file until `next` returns `nil`, and makes its bundle.
  ///
  /// Throws ``ConversionRefusal`` if the file can't be converted, a ``StoreError`` if the server fails, and errors of
  /// `next`. Nothing remains of the file then.
  /// - Parameter name: the name of the file, for people.
  /// - Returns: the pieces of the bundle, one for each call, and `nil` at the end.
  func bundle(
    of name: String, for report: ReportID, _ next: () async throws -> IOBuffer?
  ) async throws -> @Sendable () async throws -> IOBuffer?
}

/// The reason, in a sentence for the sender, why a file was not converted.
package struct ConversionRefusal: Error, Sendable, Hashable {
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}

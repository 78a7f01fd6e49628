public import Foundation
public import SnapshotFormat

extension BugReporter {
  /// ``attach(report:note:fields:)`` for code that does not await.
  /// - Parameters:
  ///   - report: the bug report.
  ///   - note: what the user wrote, as plain text of at most 32 KiB in UTF-8.
  ///   - fields: further descriptions by name, such as `severity`.
  ///   - completion: called once, on any thread.
  public func attach(
    report: ReportID, note: String? = nil, fields: [String: String] = [:],
    completion: @escaping @Sendable (Result<SnapshotID, ReportingError>) -> Void
  ) {
    Task {
      do throws(ReportingError) {
        completion(.success(try await attach(report: report, note: note, fields: fields)))
      } catch {
        completion(.failure(error))
      }
    }
  }
}

extension SnapshotAPIClient {
  /// Downloads the bundle of the snapshot that `reference` identifies, for code that does not await.
  /// - Parameters:
  ///   - reference: the snapshot's UUID, address or link.
  ///   - file: the location of the bundle. Its folder must exist.
  ///   - progress: called with the progress.
  ///   - completion: called once, on any thread.
  /// - Returns: the download, which can be cancelled.
  @discardableResult
  public func fetch(
    _ reference: SnapshotReference, to file: URL, progress: ProgressHandler? = nil,
    completion: @escaping @Sendable (Result<FetchedBundle, SnapshotClientError>) -> Void
  ) -> Task<Void, Never> {
    Task {
      do throws(SnapshotClientError) {
        completion(.success(try await fetch(reference, to: file, progress: progress)))
      } catch {
        completion(.failure(error))
      }
    }
  }
}

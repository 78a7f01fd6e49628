import SnapshotFormat

extension CommandFailure {
  /// What is said of app data, told apart by whether it was refused or the disk failed.
  init(_ error: AppDataError) {
    self.init(error.description, status: error.isSystemFailure ? .failed : .refused)
  }
}

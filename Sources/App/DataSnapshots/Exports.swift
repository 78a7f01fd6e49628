// The public API uses `ReportID`, `SnapshotID` and `Manifest`, so that apps need them without a second import.
@_exported public import SnapshotFormat

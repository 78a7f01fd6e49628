// Whoever uses this library names reports and snapshots too (`ReportID`, `SnapshotID`, `Manifest`): one import does.
@_exported public import SnapshotFormat

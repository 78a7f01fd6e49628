// Clients of this library also need `ReportID`, `SnapshotID` and `Manifest`; the export makes one import sufficient.
@_exported public import SnapshotFormat

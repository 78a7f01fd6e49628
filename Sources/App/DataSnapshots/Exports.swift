// The public API uses `ReportID`, `SnapshotID`, `Manifest`, `RedactionRule` and `SealingRecipient`, so that apps need them without a second
// import.
@_exported public import Redaction
@_exported public import SnapshotFormat
@_exported public import SnapshotSealing

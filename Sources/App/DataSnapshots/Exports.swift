// The public API uses `ReportID`, `SnapshotID`, `Manifest` and `RedactionRule`, so that apps need them without a second
// import.
@_exported public import Redaction
@_exported public import SnapshotFormat

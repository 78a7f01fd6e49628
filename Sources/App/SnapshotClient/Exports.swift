// Clients of this library also need `ReportID`, `SnapshotID`, `Manifest` and `ServerPin`; the exports make one import
// sufficient.
@_exported public import struct HTTPClient.ServerPin
@_exported public import SnapshotFormat

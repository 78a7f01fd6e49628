public import Foundation
public import SnapshotFormat

extension SnapshotMode {
  /// What an app may choose.
  public struct Configuration: Sendable {
    /// The app, as it stands in the manifests.
    public var application = Manifest.Application.current
    /// The device, as it stands in the manifests.
    public var device = Manifest.Device.current
    /// The most bytes that wait to be written; what the disk can't follow is dropped and told.
    public var waitingBytes = 64 << 20
    /// What time it is.
    public var clock: @Sendable () -> Date = { Date() }
    /// Is told what went wrong, on whatever thread it did, and may be called often. It may change the state, but may
    /// not wait for the ``SnapshotMode`` (`flush`, `report`), which would wait for it.
    public var onEvent: @Sendable (Event) -> Void = { _ in }

    /// The running app on this device, and nobody told.
    public init() {}
  }
}

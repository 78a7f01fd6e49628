public import SnapshotFormat
public import SystemIO

extension SnapshotMode {
  /// What a snapshot contains under one identifier or name.
  public struct Content: Sendable, Hashable, Identifiable {
    /// The identifier of a recording, or the name of an attachment after `attachments/`, as in
    /// ``/SnapshotFormat/BugReport/excluded``.
    public let id: String
    /// Whether it is an attachment.
    public let isAttachment: Bool
    /// The number of recordings: more than one if a history is kept.
    public let calls: Int
    /// The size of all of them in bytes.
    public let bytes: Int64

    static func list(
      _ recordings: [Storage.Recording], _ attachments: [Storage.Attachment]
    ) throws(SystemError) -> [Content] {
      var contents: [Content] = []
      for attachment in attachments {
        let size = try File(attachment.path).size
        contents.append(
          Content(id: "attachments/" + attachment.name.text, isAttachment: true, calls: 1, bytes: size))
      }
      // The recordings of an identifier follow each other.
      for recording in recordings {
        var (calls, bytes) = (1, recording.size)
        if let last = contents.last, !last.isAttachment, last.id == recording.identifier {
          (calls, bytes) = (calls + last.calls, bytes + last.bytes)
          contents.removeLast()
        }
        contents.append(Content(id: recording.identifier, isAttachment: false, calls: calls, bytes: bytes))
      }
      return contents
    }
  }

  /// Returns what a snapshot of `run` would contain now: attachments, then recordings, each sorted by name.
  public func contents(of run: Run = .current) async throws(SystemError) -> [Content] {
    try await recorder.queue.run { [recorder] () throws(SystemError) in try recorder.contents(of: run) }
  }
}

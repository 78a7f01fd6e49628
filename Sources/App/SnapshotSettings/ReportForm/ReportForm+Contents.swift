public import DataSnapshots
import Foundation
public import SnapshotFormat

extension ReportForm {
  /// Everything that the form shows.
  public struct Contents: Sendable, Hashable {
    /// The UUID of the snapshot. The user can note it before the snapshot exists.
    public let id: SnapshotID
    /// What the user is asked besides the note.
    public let fields: [Field]
    /// To whom the snapshot is sealed; `nil` if it is not.
    public let sealing: SnapshotMode.Sealing?
    /// What the user entered.
    public var draft = Draft()
    /// How far the report is.
    public var phase = Phase.editing
    /// What goes along unless it is removed: the screenshot, attachments, recordings. Empty until ``load()`` is done.
    public var items: [Item] = []
    /// The run before this one, if it did not end in good order and its recordings are kept.
    public var crashedRun: SnapshotMode.PreviousRun?
    /// Whether the bundle is in the queue, so that nothing can be changed any more.
    var isQueued = false

    init(id: SnapshotID, fields: [Field], sealing: SnapshotMode.Sealing?) {
      self.id = id
      self.fields = fields
      self.sealing = sealing
    }

    /// Whether the user can change the report and send it.
    public var isEditable: Bool { phase != .packing && !isQueued }
    /// Whether ``send()`` has an effect.
    public var canSend: Bool {
      if case .failed = phase { true } else { isEditable }
    }
    /// Whether `item` goes along.
    public func isIncluded(_ item: Item) -> Bool { !draft.excluded.contains(item.id) }
    /// The size of everything that goes along in bytes, before it is packed.
    public var bytes: Int64 { items.filter(isIncluded).reduce(0) { $0 + $1.bytes } }
  }

  /// What the user entered.
  public struct Draft: Sendable, Hashable {
    /// The name of the report in the tracker, such as `BUG-123`; may be empty if the configuration has one.
    public var report = ""
    /// What happened, in the user's words.
    public var note = ""
    /// The answers to the fields, by their names.
    public var fields: [String: String] = [:]
    /// What does not go along, by ``Item/id``.
    public var excluded: Set<Item.ID> = []
    /// Which recordings go along; ``ReportForm/select(_:)`` changes it.
    public internal(set) var run = SnapshotMode.Run.current
  }

  /// A question besides the note.
  public struct Field: Sendable, Hashable, Identifiable {
    /// The name in the manifest, such as `severity`.
    public var id: String
    /// The question as the user sees it.
    public var label: String
    /// The possible answers; empty for any text.
    public var choices: [String]

    /// Creates a field.
    public init(_ id: String, label: String, choices: [String] = []) {
      self.id = id
      self.label = label
      self.choices = choices
    }
  }

  /// How far a report is.
  public enum Phase: Sendable, Hashable {
    /// The user fills in the form.
    case editing
    /// The bundle is being made.
    case packing
    /// The bundle is in the queue, and survives the end of the app. The text says what it waits for.
    case queued(String)
    /// The server has it.
    case sent
    /// The report was not sent. The text states the reason and the remedy.
    case failed(String)

    /// The phase as a sentence for the user; empty while the user fills in the form.
    public var words: String {
      switch self {
      case .editing: ""
      case .packing: "Packing …"
      case .queued(let state): "Ready to be sent, also if you close the app. \(state)"
      case .sent: "Sent. Thank you."
      case .failed(let reason): reason
      }
    }
  }

  /// A part of the snapshot that the user can remove.
  public struct Item: Sendable, Hashable, Identifiable {
    /// The kinds of parts.
    public enum Kind: Sendable, Hashable, CaseIterable {
      /// The image of the app that the form was opened with.
      case screenshot
      /// A file that the app attached.
      case attachment
      /// The recordings of one identifier.
      case recording
    }

    /// The identifier, as in ``/SnapshotFormat/BugReport/excluded``.
    public let id: String
    /// The kind.
    public let kind: Kind
    /// The size in bytes.
    public let bytes: Int64
    /// The number of recorded calls.
    public let calls: Int

    /// The name for people.
    public var name: String {
      switch kind {
      case .screenshot: "Screenshot"
      case .attachment: String(id.dropFirst("attachments/".count))
      case .recording: id
      }
    }

    static func list(screenshot: Data?, _ recorded: [SnapshotMode.Content]) -> [Item] {
      let image = screenshot.map { data in
        Item(
          id: "attachments/" + screenshotName, kind: .screenshot, bytes: Int64(data.count), calls: 1)
      }
      // The screenshot replaces a recorded attachment with its name.
      return [image].compactMap(\.self)
        + recorded.filter { !$0.isAttachment || $0.id != image?.id }.map { content in
          Item(
            id: content.id, kind: content.isAttachment ? .attachment : .recording, bytes: content.bytes,
            calls: content.calls)
        }
    }
  }
}

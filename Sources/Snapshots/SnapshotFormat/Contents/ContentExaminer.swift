/// Examines the contents of a recording, which arrive in pieces of any size, in constant memory.
///
/// JSON is read to its end; of everything else, the first bytes decide. The size of the pieces makes no difference. A
/// value type, not to be shared.
public struct ContentExaminer {
  /// The number of bytes that decide the kind.
  static let headLength = 4096
  /// The number of bytes of a page in HTML in which the title and the first heading are looked for.
  private static let pageLength = 64 << 10

  private let expectsJSON: Bool
  private var head: [UInt8] = []
  private var kind: ContentState.Kind?
  private var json: JSONCheck?
  private var placeholders = PlaceholderCount()

  /// Starts an examination.
  /// - Parameter expectsJSON: whether the contents are meant to be JSON whatever they begin with.
  public init(expectsJSON: Bool = false) { self.expectsJSON = expectsJSON }

  /// Examines the next bytes.
  public mutating func take(_ piece: [UInt8]) {
    placeholders.take(piece)
    guard kind == nil else {
      json?.take(piece)
      if kind == .html, head.count < Self.pageLength { head += piece }
      return
    }
    head += piece
    if head.count >= Self.headLength { decide() }
  }

  /// The state after the last piece.
  public mutating func finish() -> ContentState {
    if kind == nil { decide() }
    var state = ContentState(kind ?? .empty, redactedPlaces: placeholders.count)
    switch state.kind {
    case .empty: state.problem = .empty
    case .html: state.problem = ErrorPage.problem(of: head.prefix(Self.pageLength))
    default: break
    }
    guard json != nil else { return state }
    json?.finish()
    if let problem = json?.problem, expectsJSON || json?.isEvident == true {
      state.problem = problem
    } else if json?.problem != nil {
      state.kind = .text
    }
    if json?.isSequence == true { state.kind = .jsonLines }
    return state
  }

  private mutating func decide() {
    let kind = ContentKind.of(head.prefix(Self.headLength))
    self.kind = kind
    guard kind == .json || expectsJSON && kind == .text else { return }
    self.kind = .json
    json = JSONCheck()
    json?.take(head)
  }

  /// The extensions of the names of JSON, in lower case.
  package static let extensionsOfJSON: Set = ["json", "jsonl", "ndjson", "json-seq", "geojson", "har"]

  /// Whether the name of a file or an identifier ends as those of JSON do, in any letter case.
  public static func isNamedAsJSON(_ name: String) -> Bool {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
    return extensionsOfJSON.contains(String(name[dot...].dropFirst()).lowercased())
  }
}

/// Counts the placeholders of redaction in bytes that arrive in pieces.
struct PlaceholderCount {
  private static let mark = Array("[redacted".utf8)

  private(set) var count = 0
  /// The number of bytes of the mark that the last bytes match.
  private var matched = 0

  mutating func take(_ piece: [UInt8]) {
    for byte in piece {
      if byte == Self.mark[matched] {
        matched += 1
        guard matched == Self.mark.count else { continue }
        count += 1
        matched = 0
      } else if matched > 0 {
        matched = byte == Self.mark[0] ? 1 : 0
      }
    }
  }
}

/// What the contents of a recording are, and what is wrong with them.
public struct ContentState: Hashable, Sendable {
  /// The kind of contents, judged by the first bytes.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case json
    /// Several JSON documents, one after the other.
    case jsonLines
    case propertyList
    case html, xml, image, text, binary, empty
  }

  /// The kind of contents.
  public var kind: Kind
  /// What is wrong with them; `nil` if nothing was found.
  public var problem: RecordingProblem?
  /// The number of places that redaction replaced, as far as its placeholders are visible.
  public var redactedPlaces: Int

  /// Creates a state.
  public init(_ kind: Kind, problem: RecordingProblem? = nil, redactedPlaces: Int = 0) {
    self.kind = kind
    self.problem = problem
    self.redactedPlaces = redactedPlaces
  }
}

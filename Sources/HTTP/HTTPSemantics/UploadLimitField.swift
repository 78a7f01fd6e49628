import RawStructuredFieldValues

/// The value of `Upload-Limit` (draft-ietf-httpbis-resumable-upload): the server's limits for a resumable upload. `nil`
/// means that the server states no limit.
public struct UploadLimitField: Sendable, Hashable {
  /// The maximum size of an upload, in bytes.
  public var maximumSize: Int64?
  /// The minimum size of an upload, in bytes.
  public var minimumSize: Int64?
  /// The maximum size of one request's content, in bytes.
  public var maximumAppendSize: Int64?
  /// The minimum size of one request's content, in bytes. Does not apply to the last request.
  public var minimumAppendSize: Int64?
  /// How many seconds the server keeps an incomplete upload.
  public var maximumAge: Int64?

  /// Creates limits from their parts.
  public init(
    maximumSize: Int64? = nil, minimumSize: Int64? = nil, maximumAppendSize: Int64? = nil,
    minimumAppendSize: Int64? = nil, maximumAge: Int64? = nil
  ) {
    self.maximumSize = maximumSize
    self.minimumSize = minimumSize
    self.maximumAppendSize = maximumAppendSize
    self.minimumAppendSize = minimumAppendSize
    self.maximumAge = maximumAge
  }

  /// Reads the field. Returns `nil` if it is not a dictionary, or if the value of a known key is not a non-negative
  /// integer. Ignores unknown keys.
  public init?(_ text: String) {
    self.init()
    do {
      var parser = StructuredFieldValueParser(Array(text.utf8))
      for (key, value) in try parser.parseDictionaryFieldValue() {
        guard let place = Self.keys.first(where: { $0.key == key })?.place else { continue }
        guard case .item(let item) = value, case .integer(let number) = item.rfc9651BareItem, number >= 0
        else {
          return nil
        }
        self[keyPath: place] = number
      }
    } catch {
      return nil
    }
  }

  /// The field's value. It is never empty: without limits it is `min-size=0`.
  public var fieldValue: String {
    let entries = Self.keys.compactMap { key, place in self[keyPath: place].map { "\(key)=\($0)" } }
    return entries.isEmpty ? "min-size=0" : entries.joined(separator: ", ")
  }

  private static var keys: [(key: String, place: WritableKeyPath<Self, Int64?>)] {
    [
      ("max-size", \.maximumSize), ("min-size", \.minimumSize), ("max-append-size", \.maximumAppendSize),
      ("min-append-size", \.minimumAppendSize), ("max-age", \.maximumAge),
    ]
  }
}

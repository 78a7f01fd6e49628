import RawStructuredFieldValues

/// What `Upload-Limit` says (draft-ietf-httpbis-resumable-upload): how much a server takes of an upload that may be
/// resumed. `nil` is no limit that is told.
public struct UploadLimitField: Sendable, Hashable {
  /// The most bytes in all.
  public var maximumSize: Int64?
  /// The fewest bytes in all.
  public var minimumSize: Int64?
  /// The most bytes in one request.
  public var maximumAppendSize: Int64?
  /// The fewest bytes in one request, but for the last.
  public var minimumAppendSize: Int64?
  /// How many seconds what is not finished is kept.
  public var maximumAge: Int64?

  /// Limits by their parts.
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

  /// Reads the field; `nil` where it is no dictionary, or a key that is known has something else than a number. Keys
  /// that are not known are passed over.
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

  /// The field's value: never empty, for one that says nothing is `min-size=0`.
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

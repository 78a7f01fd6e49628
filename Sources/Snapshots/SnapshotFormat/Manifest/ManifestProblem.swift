/// An error in a value of a manifest, and its location, such as `recordings[3].size`.
struct ManifestProblem: Error {
  enum Kind {
    case missing
    case null
    /// The expected type, such as `a string`.
    case mismatch(String)
    /// A message that follows the location.
    case wrong(String)
  }

  private(set) var place: String
  let kind: Kind

  /// Creates a problem with the current value.
  init(_ kind: Kind) { self.init(kind, at: "") }

  /// Creates a problem with the value of a key.
  init(_ kind: Kind, at place: String) {
    self.kind = kind
    self.place = place
  }

  /// The same problem, if the value belongs to `key`.
  func below(_ key: String) -> ManifestProblem {
    let separator = place.isEmpty || place.utf8.first == UInt8(ascii: "[") ? "" : "."
    return ManifestProblem(kind, at: key + separator + place)
  }

  /// The same problem, if the value is the element at `index`.
  func below(_ index: Int) -> ManifestProblem { below("[\(index)]") }

  /// The error for the sender of the manifest.
  var error: BundleError {
    switch kind {
    case .missing: .manifestMalformed("‘\(place)’ is missing")
    case .null where place.isEmpty: .manifestMalformed("it is null")
    case .null: .manifestMalformed("‘\(place)’ is null")
    case .mismatch(let type) where place.isEmpty: .manifestMalformed("it should be \(type)")
    case .mismatch(let type): .manifestMalformed("‘\(place)’ should be \(type)")
    case .wrong(let words): .manifestMalformed("\(place): \(words)")
    }
  }
}

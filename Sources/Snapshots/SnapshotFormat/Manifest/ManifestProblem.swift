/// What is wrong with a value of a manifest, and where: `recordings[3].size`.
struct ManifestProblem: Error {
  enum Kind {
    case missing
    case null
    /// What it should be instead, such as `a text`.
    case mismatch(String)
    /// The rest of a sentence that begins with the place.
    case wrong(String)
  }

  private(set) var place: String
  let kind: Kind

  /// Of the value that is read.
  init(_ kind: Kind) { self.init(kind, at: "") }

  /// Of the value of a key.
  init(_ kind: Kind, at place: String) {
    self.kind = kind
    self.place = place
  }

  /// The same, where the value is the one of `key`.
  func below(_ key: String) -> ManifestProblem {
    let separator = place.isEmpty || place.utf8.first == UInt8(ascii: "[") ? "" : "."
    return ManifestProblem(kind, at: key + separator + place)
  }

  /// The same, where the value is the element at `index`.
  func below(_ index: Int) -> ManifestProblem { below("[\(index)]") }

  /// What whoever sent the manifest is told.
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

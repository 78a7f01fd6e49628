import JSONText

extension ViewedFile {
  /// Detects what a file is from its first bytes, and makes its index. Blocks for the disk.
  /// - Parameters:
  ///   - space: the space for a converted text, and for the JSON made from a property list.
  ///   - claimsJSON: whether the file is meant to be JSON, whatever its first bytes are.
  package init(
    reading bytes: ViewedBytes, in space: CopySpace, claimsJSON: Bool = false
  ) throws(ViewerError) {
    if PropertyList.form(of: try bytes.read(upTo: ContentHead.length, at: 0)) == .binary {
      try self.init(.binary, bytes, nil, in: space)
      return
    }
    let outcome = try ViewedText.of(bytes, in: space)
    guard case .text(let text) = outcome else {
      self.init(bytes: bytes, text: outcome, json: nil)
      return
    }
    let head = ContentHead(try text.bytes.read(upTo: ContentHead.length, at: 0))
    if let form = PropertyList.form(of: head.bytes) {
      try self.init(form, bytes, text, in: space)
      return
    }
    guard head.mayBeJSON || claimsJSON else {
      self.init(bytes: bytes, text: outcome, json: nil)
      return
    }
    var json = try JSONIndex.of(text.bytes)
    if case .invalid(let failure) = json {
      json = .invalid(failure.moved(to: try text.offset(ofByte: failure.offset)))
    }
    self.init(bytes: bytes, text: outcome, json: json)
  }

  /// - Parameter text: the text of the file, if the property list is text.
  private init(
    _ form: PropertyList.Form, _ bytes: ViewedBytes, _ text: ViewedText?, in space: CopySpace
  ) throws(ViewerError) {
    let outcome = text.map(ViewedText.Outcome.text)
    switch try PropertyList.convert(
      text?.bytes ?? bytes, form, in: space, ignoresEncoding: text?.encoding != nil)
    {
    case .document(let document):
      self.init(
        bytes: bytes, text: outcome, json: try JSONIndex.of(document.bytes), propertyList: .document(document)
      )
    case .invalid(let form, let failure):
      var place = failure.offset
      if let text, let offset = place { place = try text.offset(ofByte: offset) }
      self.init(
        bytes: bytes, text: outcome, json: nil, propertyList: .invalid(form, failure.moved(to: place)))
    case .other: self.init(bytes: bytes, text: outcome, json: nil, propertyList: .other)
    }
  }
}

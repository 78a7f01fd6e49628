import Foundation

extension ArchiveEntry {
  /// A recording in a snapshot.
  package struct Reference: Hashable, Sendable {
    package var identifier: String
    package var call: Int?

    package init(identifier: String, call: Int?) { (self.identifier, self.call) = (identifier, call) }
  }

  /// The name of the member that refers to the recording of an entry.
  package static let referenceName = "_recording"

  /// The entry without its bodies: their texts are empty. Of an entry that is not whole, only times, page, method and URL
  /// are kept.
  /// - Parameter bodySize: the size of the response's body that is recorded; `nil` if it is not.
  package func withoutBodies(bodySize: Int?) -> ArchiveValue {
    var entry = value
    guard isWhole else { return beginning }
    var request = self.request
    var response = self.response
    guard let bodySize else {
      // The sizes still say that there were bodies, so that no later import takes them for empty.
      if let text = request["postData"]?["text"]?.bytes {
        // Some programs do not read `postData` without a text.
        let hasParameters = request["postData"]?["params"]?.elements.isEmpty == false
        if hasParameters { request["postData"]?["text"] = nil } else { request["postData"] = nil }
        request["bodySize"] = ArchiveValue(max(Int(clamping: request["bodySize"]?.integer ?? 0), text.count))
      }
      if let text = response["content"]?["text"]?.bytes {
        let size = Int(clamping: response["content"]?["size"]?.integer ?? 0)
        response["content"]?["text"] = nil
        response["content"]?["size"] = ArchiveValue(max(size, text.count))
      }
      if let text = request["_content"]?["text"]?.bytes {
        request["_content"] = nil
        request["bodySize"] = ArchiveValue(max(Int(clamping: request["bodySize"]?.integer ?? 0), text.count))
      }
      entry["request"] = request
      entry["response"] = response
      return entry
    }
    func empty(_ content: inout ArchiveValue?) {
      if content?["text"] != nil { content?["text"] = ArchiveValue("") }
    }
    empty(&request["_content"])
    empty(&request["postData"])
    empty(&response["content"])
    if response["content"]?["text"] != nil {
      response["content"]?["size"] = ArchiveValue(bodySize)
    }
    entry["request"] = request
    entry["response"] = response
    return entry
  }

  private var beginning: ArchiveValue {
    func short(_ value: ArchiveValue, _ names: [String]) -> ArchiveValue {
      .object(
        names.compactMap { name in
          guard let text = value[name], text.json.count <= ArchiveLimits().urlLength else { return nil }
          return .init(name, text)
        })
    }
    var entry = short(value, ["startedDateTime", "time", "pageref"])
    entry["request"] = short(request, ["method", "url"])
    return ArchiveEntry(entry).value
  }

  /// The recording that ``referenceName`` names in an entry without bodies.
  package static func reference(of entry: ArchiveValue) -> Reference? {
    guard let member = entry[referenceName], let identifier = member["identifier"]?.text else { return nil }
    return Reference(identifier: identifier, call: member["call"]?.integer.map { Int(clamping: $0) })
  }

  /// The member that refers to a recording, as JSON.
  package static func json(_ reference: Reference) -> [UInt8] {
    var value = ArchiveValue.object([.init("identifier", ArchiveValue(reference.identifier))])
    if let call = reference.call { value["call"] = ArchiveValue(call) }
    return ArchiveValue.object([.init(referenceName, value)]).json
  }

  /// Returns an entry whose recording is not there: without the reference, and without the texts of its bodies.
  package static func withoutReference(_ entry: ArchiveValue) -> ArchiveValue {
    var entry = entry
    entry[referenceName] = nil
    return ArchiveEntry(entry).withoutBodies(bodySize: nil)
  }

  /// Returns an entry without bodies, with the bodies of its recording.
  package static func merge(_ entry: ArchiveValue, requestBody: [UInt8], body: [UInt8]) -> ArchiveValue {
    var entry = entry
    entry[referenceName] = nil
    var content = entry["response"]?["content"] ?? .object([])
    if !body.isEmpty || content["text"] != nil {
      let isText = content["text"] == nil || content["encoding"]?.text?.lowercased() != "base64"
      setText(body, isText: isText, &content)
      content["size"] = ArchiveValue(body.count)
      entry["response"]?["content"] = content
    }
    guard var request = entry["request"] else { return entry }
    if request["_content"] != nil || !requestBody.isEmpty && !isText(requestBody) {
      var content = request["_content"] ?? .object([])
      let isText = content["encoding"] == nil && content["text"] != nil
      setText(requestBody, isText: isText, &content)
      content["size"] = ArchiveValue(requestBody.count)
      request["_content"] = content
    }
    let posted = request["postData"]
    // A body that can be made from the parameters is not written twice.
    let isMade = posted.flatMap(FormBody.make) == Data(requestBody)
    if posted?["text"] != nil || !requestBody.isEmpty && !isMade && request["_content"] == nil {
      var data = posted ?? .object([.init("mimeType", ArchiveValue(""))])
      if data["encoding"] != nil || isText(requestBody) {
        setText(requestBody, isText: data["encoding"] == nil, &data)
      }
      request["postData"] = data
    }
    entry["request"] = request
    return entry
  }

  /// Writes a body as text, or as base64 if it is not text in UTF-8.
  static func setText(_ body: [UInt8], isText: Bool, _ content: inout ArchiveValue) {
    if isText, Self.isText(body) {
      content["text"] = ArchiveValue(text: body)
      content["encoding"] = nil
    } else {
      content["text"] = .string(Array(Data(body).base64EncodedData()))
      content["encoding"] = ArchiveValue("base64")
    }
  }

  static func isText(_ body: [UInt8]) -> Bool {
    String(validating: body, as: UTF8.self) != nil
  }
}

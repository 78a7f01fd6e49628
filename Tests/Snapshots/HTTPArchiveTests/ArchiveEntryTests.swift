import Foundation
import HTTPArchive
import SnapshotFormat
import Testing

/// Entries become exchanges, and exchanges entries.
@Suite struct ArchiveEntryTests {
  @Test func `an entry becomes an exchange with its bodies`() throws {
    let exchange = try exchange(
      entry(
        """
        "method":"POST","url":"https://example.com/feed?a=1","headers":[{"name":":method","value":"POST"},
        {"name":"Accept","value":"*/*"}],"postData":{"mimeType":"text/plain","text":"h\\u00e9"}
        """,
        """
        "status":201,"headers":[{"name":"Set-Cookie","value":"a=1\\nb=2"},{"name":"X","value":""}],
        "content":{"size":3,"mimeType":"image/png","text":"AAEC","encoding":"base64"}
        """, #","timings":{"blocked":-1,"dns":1,"connect":5,"ssl":4,"send":0,"wait":20.4,"receive":2}"#))
    let expected = Manifest.Exchange(
      request: .init(
        method: "POST", url: "https://example.com/feed?a=1", fields: [.init("Accept", "*/*")]),
      response: .init(
        status: 201, fields: [.init("Set-Cookie", "a=1"), .init("Set-Cookie", "b=2"), .init("X", "")]),
      startedAt: Date(timeIntervalSince1970: 1_772_355_600.25), responseAfter: 26, duration: 41)
    #expect(exchange.description == expected)
    #expect(exchange.requestBody == Data("hé".utf8) && exchange.body == Data([0, 1, 2]))
    #expect(exchange.statedSize == nil)
    #expect(SnapshotJSON.text(of: exchange.endedAt) == "2026-03-01T09:00:00.291Z")
  }

  @Test(arguments: [
    ("2026-03-01T10:00:00+0100", 1_772_355_600.0), ("2026-03-01T10:00:00.500Z", 1_772_359_200.5), ("soon", 0),
  ])
  func `the offset of a time can be without a colon, and the time missing`(text: String, seconds: Double)
    throws
  {
    let text = entry().replacing("2026-03-01T10:00:00.250+01:00", with: text)
    #expect(try exchange(text).description.startedAt == Date(timeIntervalSince1970: seconds))
  }

  @Test func `times that are no numbers are unknown`() throws {
    let text = entry(
      #""method":"GET","url":"https://a""#, #""status":204"#, #","timings":{"wait":NaN,"dns":null}"#
    )
    .replacing("\"time\":41", with: "\"time\":NaN")
    let exchange = try exchange(text)
    #expect(exchange.description.duration == 0 && exchange.description.responseAfter == nil)
    let value = try exported(text)
    #expect(value["time"]?.integer == 0 && value["timings"]?["wait"]?.integer == -1)
    #expect(value["timings"]?["dns"]?.integer == -1)
  }

  // MARK: - Missing and damaged bodies

  @Test(arguments: [
    // Firefox leaves out the bodies of images.
    #""status":200,"content":{"mimeType":"image/png"}"#, #""status":200,"content":{"size":-1}"#,
    #""status":200,"content":{"size":12}"#, #""status":200,"content":{"size":0},"bodySize":12"#,
    #""status":404"#, #""status":302,"content":{"size":12}"#,
    #""status":200,"content":{"size":2,"text":null}"#,
  ])
  func `a response whose body is missing is no exchange`(response: String) throws {
    #expect(try omission(entry(#""method":"GET","url":"https://a""#, response)) == .noBody)
  }

  @Test(arguments: [
    ("GET", #""status":204"#), ("GET", #""status":304,"content":{"size":9}"#), ("HEAD", #""status":200"#),
    ("GET", #""status":200,"content":{"size":0},"bodySize":-1"#), ("GET", #""status":101"#),
    ("GET", #""status":302,"redirectURL":"/b","content":{"size":9}"#), ("GET", #""status":0"#),
    ("GET", #""status":200,"content":{"text":""}"#),
  ])
  func `a response that has no body is an exchange`(method: String, response: String) throws {
    let exchange = try exchange(entry("\"method\":\"\(method)\",\"url\":\"https://a\"", response))
    #expect(exchange.body.isEmpty)
  }

  @Test func `bodies that are not what the archive says are named`() throws {
    let get = #""method":"GET","url":"https://a""#
    func response(_ content: String) -> String { "\"status\":200,\"content\":{\(content)}" }
    #expect(try omission(entry(get, response(#""text":"A?==","encoding":"base64""#))) == .notBase64)
    #expect(try omission(entry(get, response(#""text":"A","encoding":"base64""#))) == .notBase64)
    #expect(
      try omission(entry(get, response(#""text":"A","encoding":"rot13""#))) == .unknownEncoding("rot13"))
    #expect(
      try exchange(entry(get, response(#""text":"AA\r\nEC","encoding":"BASE64""#))).body == Data([0, 1, 2]))
    #expect(try exchange(entry(get, response(#""text":"ok","size":9"#))).statedSize == 9)
    #expect(try exchange(entry(get, response(#""text":"ok","size":-1"#))).statedSize == nil)
    #expect(
      try omission(entry(#""method":"POST","url":"https://a","bodySize":5"#)) == .noRequestBody)
  }

  @Test func `decoded text under Content-Encoding is taken as it is`() throws {
    let text = entry(
      #""method":"GET","url":"https://a""#,
      #""status":200,"headers":[{"name":"Content-Encoding","value":"gzip"}],"content":{"size":2,"text":"ok"}"#
    )
    let exchange = try exchange(text)
    #expect(exchange.body == Data("ok".utf8))
    #expect(exchange.description.responseField("content-encoding") == "gzip")
    #expect(try exported(text)["response"]?["content"]?["text"]?.text == "ok")
  }

  @Test(arguments: [
    (#""url":"https://a""#, ArchiveOmission.Reason.noRequest), (#""method":"GET""#, .noRequest),
    (#""method":"GET","url":"""#, .noRequest), (#""method":1,"url":"https://a""#, .noRequest),
  ])
  func `an entry without a request is no exchange`(request: String, reason: ArchiveOmission.Reason) throws {
    #expect(try omission(entry(request)) == reason)
  }

  @Test(arguments: [(99, false), (100, true), (999, true), (1000, false)])
  func `a status has three digits`(status: Int, isValid: Bool) throws {
    let text = entry(#""method":"GET","url":"https://a""#, "\"status\":\(status),\"content\":{\"text\":\"\"}")
    #expect(try omission(text) == (isValid ? nil : .invalidStatus(Int64(status))))
  }

  @Test func `URLs, descriptions and files have limits`() throws {
    var limits = ArchiveLimits()
    limits.urlLength = 20
    for (length, reason) in [(19, nil), (20, nil), (21, ArchiveOmission.Reason.urlTooLong)] {
      let url = "https://a/" + String(repeating: "x", count: length - 10)
      #expect(try omission(entry("\"method\":\"GET\",\"url\":\"\(url)\""), limits: limits) == reason)
    }
    limits = ArchiveLimits()
    let size = try exchange(entry()).description.descriptionSize
    for (limit, reason) in [
      (size - 1, ArchiveOmission.Reason.descriptionTooLarge), (size, nil), (size + 1, nil),
    ] {
      limits.descriptionSize = limit
      #expect(try omission(entry(), limits: limits) == reason)
    }
    limits = ArchiveLimits()
    limits.fileSize = 3
    let text = entry(#""method":"GET","url":"https://a""#, #""status":200,"content":{"_file":"f"}"#)
    for (length, reason) in [(2, nil), (3, nil), (4, ArchiveOmission.Reason.fileTooLarge)] {
      #expect(try omission(text, limits: limits, files: ["f": Data(count: length)]) == reason)
    }
    limits.entrySize = 100
    #expect(try omission(entry(), limits: limits) == .entryTooLarge)
  }

  // MARK: - Requests

  @Test func `bodies of requests are read from everywhere`() throws {
    func body(_ members: String, files: [String: Data] = [:]) throws -> Data {
      try exchange(entry("\"method\":\"POST\",\"url\":\"https://a\",\(members)"), files: files).requestBody
    }
    #expect(try body(#""_content":{"text":"AP8=","encoding":"base64","size":2}"#) == Data([0, 255]))
    #expect(
      try body(#""postData":{"mimeType":"x","_file":"b.bin"}"#, files: ["b.bin": Data([7])]) == Data([7]))
    #expect(
      try body(
        #""postData":{"params":[{"name":"a b","value":"1&2"},{"name":"c","value":"%C3%A9"},{"name":"d"}]}"#)
        == Data("a+b=1%262&c=%C3%A9&d".utf8))
    let form = #"""
      "postData":{"mimeType":"multipart/form-data; boundary=XX","params":[{"name":"a","value":"1"},
      {"name":"f","fileName":"n.txt","contentType":"text/plain","value":"t"}]}
      """#
    #expect(
      try body(form)
        == Data(
          "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n.txt\"\r\nContent-Type: text/plain\r\n\r\nt\r\n--XX--\r\n"
            .utf8))
    #expect(
      try omission(
        entry(
          #""method":"POST","url":"https://a","bodySize":9,"postData":{"mimeType":"multipart/form-data; boundary=X","params":[{"name":"f","fileName":"n"}]}"#
        )) == .noRequestBody)
  }

  @Test(arguments: ["../b", "a/b", "", ".hidden", "a\\\\b", "c:d", "none"])
  func `only a plain name in the same folder is read`(name: String) throws {
    let files = ["../b": Data(), "a/b": Data(), "": Data(), ".hidden": Data(), "a\\b": Data(), "c:d": Data()]
    let text = entry(
      #""method":"GET","url":"https://a""#, "\"status\":200,\"content\":{\"_file\":\"\(name)\"}")
    guard case .noFile = try omission(text, files: files) else {
      Issue.record("\(name) was read")
      return
    }
  }

  // MARK: - Redirects and errors

  @Test(arguments: [
    (301, "POST", "GET"), (302, "PUT", "PUT"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
    (307, "POST", "POST"),
    (308, "POST", "POST"),
  ])
  func `a redirect leads to the next request`(status: Int, method: String, next: String) throws {
    let exchange = try exchange(
      entry(
        "\"method\":\"\(method)\",\"url\":\"https://a/x/y\"", "\"status\":\(status),\"redirectURL\":\"../z\"")
    )
    #expect(exchange.description.redirect == .init(method: next, url: "https://a/z"))
  }

  @Test(arguments: [
    (#""status":0"#, #","_error":"net::ERR_NAME_NOT_RESOLVED""#, -1003, false),
    (#""status":0,"_error":"net::ERR_TIMED_OUT""#, "", -1001, false), (#""status":0"#, "", -1005, false),
    (#""status":200"#, #","_error":"net::ERR_ABORTED""#, -999, true),
    (#""status":-1"#, #","_failure":{"domain":"NSURLErrorDomain","code":-1200}"#, -1200, false),
  ])
  func `an exchange without a response has failed`(
    response: String, rest: String, code: Int, hasResponse: Bool
  ) throws {
    let exchange = try exchange(entry(#""method":"GET","url":"https://a""#, response, rest))
    #expect(exchange.description.failure == .init(domain: "NSURLErrorDomain", code: code))
    #expect((exchange.description.response != nil) == hasResponse)
  }

  // MARK: - Round trips

  static let quirks = [
    entry(), entry(#""method":"GET","url":"https://a""#, #""status":304"#),
    entry(
      #""method":"GET","url":"wss://a""#, #""status":101"#,
      #","_webSocketMessages":[{"type":"send","data":"x"}]"#),
    entry(
      #""method":"POST","url":"https://a","_content":{"text":"AP8=","encoding":"base64","size":2}"#,
      #""status":200,"content":{"text":"AP8=","encoding":"base64","size":9,"compression":1.0,"_x":[1e400]}"#),
    entry(
      #""method":"POST","url":"https://a","postData":{"mimeType":"x","text":"\u0000\ud83d","params":[]},"cookies":null"#
    ),
    entry(
      #""method":"POST","url":"https://a","postData":{"params":[{"name":"a","value":"1"}]}"#, #""status":0"#),
    entry(
      #""method":"GET","url":"https://a","bodySize":0"#, #""status":200,"content":{"text":""}"#,
      #","pageref":"p""#),
    entry(#""method":"GET","url":"https://a""#, #""status":200,"content":{"_file":"b"}"#),
    entry(#""method":"GET","url":"https://a""#, #""status":200,"content":{"_file":"t","size":3}"#),
    entry(#""method":"POST","url":"https://a","postData":{"mimeType":"x","_file":"b"}"#),
  ]

  @Test(arguments: quirks)
  func `an entry that is exported is an equal one`(text: String) throws {
    let files = ["b": Data([0, 255, 128]), "t": Data("txt".utf8)]
    let first = try exchange(text, files: files)
    let value = try exported(text, files: files)
    let again = String(decoding: value.json, as: UTF8.self)
    // The exported one needs no files.
    var second = try exchange(again)
    second.statedSize = first.statedSize
    #expect(second == first)
    #expect(try exported(again) == value)
    // Nothing is lost but the values of the wrong type.
    let original = try entries(text)[0].value
    for member in ["_webSocketMessages", "pageref", "timings", "cache"] {
      #expect(value[member] == original[member])
    }
    #expect(value["response"]?["content"]?["_x"] == original["response"]?["content"]?["_x"])
    #expect(value["response"]?["content"]?["_file"] == original["response"]?["content"]?["_file"])
    #expect(value["request"]?["postData"]?["params"] == original["request"]?["postData"]?["params"])
  }

  @Test func `an entry that is imported has no body left, and refers to its recording`() throws {
    let secret = "c2VjcmV0"
    let entry = try entries(
      entry(
        "\"method\":\"POST\",\"url\":\"https://a\",\"_content\":{\"text\":\"\(secret)\"},\"postData\":{\"text\":\"\(secret)\"}",
        "\"status\":200,\"content\":{\"text\":\"\(secret)\",\"encoding\":\"base64\",\"size\":6}"))[0]
    for size in [nil, 4] {
      let kept = entry.withoutBodies(bodySize: size)
      #expect(!String(decoding: kept.json, as: UTF8.self).contains(secret))
      #expect((kept["response"]?["content"]?["text"] == nil) == (size == nil))
      #expect(kept["response"]?["content"]?["size"]?.integer == Int64(size ?? 8))
    }
    let reference = ArchiveEntry.Reference(identifier: "GET https://a \"q\"", call: 3)
    let json = String(decoding: ArchiveEntry.json(reference), as: UTF8.self)
    let value = try entries(json)[0].value
    #expect(ArchiveEntry.reference(of: value) == reference)
    #expect(ArchiveEntry.reference(of: .object([])) == nil)
    #expect(ArchiveEntry.withoutReference(value)["_recording"] == nil)
  }

  @Test func `a body that could not be kept is not taken for an empty one later`() throws {
    let entry = try entries(
      entry(
        #""method":"POST","url":"https://a","bodySize":-1,"postData":{"mimeType":"x","text":"abc","params":[]}"#,
        #""status":200,"content":{"text":"body","size":0}"#))[0]
    let kept = String(decoding: entry.withoutBodies(bodySize: nil).json, as: UTF8.self)
    #expect(try omission(kept) == .noRequestBody)
    let answer = try entries(self.kept(#""status":200,"content":{"text":"body","size":0}"#))[0]
    #expect(
      try omission(String(decoding: answer.withoutBodies(bodySize: nil).json, as: UTF8.self)) == .noBody)
  }

  private func kept(_ response: String) -> String { entry(#""method":"GET","url":"https://a""#, response) }

  @Test(arguments: [
    ("https://a/b?c=[x]|%20 %zé#f", "https://a/b?c=%5Bx%5D%7C%20%20%25z%C3%A9#f"),
    ("http://[::1]:80/a[1]", "http://[::1]:80/a%5B1%5D"), ("https://a", "https://a"),
  ])
  func `characters that a URL can't have are encoded, and escapes are not`(text: String, url: String) throws {
    let exchange = try exchange(entry("\"method\":\"GET\",\"url\":\"\(text)\""))
    #expect(exchange.url.absoluteString == url && exchange.description.request.url == text)
  }

  @Test(arguments: [("", nil), ("[::1]", "::1"), ("1.2.3.4", "1.2.3.4")])
  func `the address of a server is valid or missing`(text: String, address: String?) throws {
    let value = try entries(
      entry().replacing("\"time\":41", with: "\"time\":41,\"serverIPAddress\":\"\(text)\""))[0].value
    #expect(value["serverIPAddress"]?.text == address)
  }

  @Test func `pages get what is required`() throws {
    let pages = ArchiveValue.Member("pages", .array([.object([.init("id", ArchiveValue("p"))]), .null]))
      .completed
    #expect(pages.value.elements.map { $0["title"]?.text } == ["", ""])
    #expect(pages.value.elements[0]["id"]?.text == "p")
    #expect(ArchiveValue.Member("comment", .null).completed.value == .null)
  }

  @Test func `of an entry that is too large, only its request is kept`() throws {
    var limits = ArchiveLimits()
    limits.entrySize = 2000
    let text = entry(
      #""method":"GET","url":"https://a""#,
      "\"status\":200,\"content\":{\"text\":\"\(String(repeating: "x", count: 3000))\"}")
    let entry = try entries(text, limits: limits)[0]
    let kept = entry.withoutBodies(bodySize: nil)
    #expect(kept["request"]?["url"]?.text == "https://a" && kept["time"]?.integer == 41)
    #expect(kept.json.count < 800)
  }

  @Test func `an exchange that an app has recorded becomes a valid entry, and an equal exchange`() throws {
    var exchange = Manifest.Exchange(
      request: .init(
        method: "POST", url: "https://example.com/a?q=%C3%A9&r", fields: [.init("Content-Type", "a/b")]),
      response: .init(status: 302, fields: [.init("Content-Type", "text/html")]),
      redirect: .init(method: "GET", url: "https://example.com/b"),
      startedAt: Date(timeIntervalSince1970: 1_700_000_000.5), responseAfter: 20, duration: 25)
    exchange.request.body = .init(size: 2, sha256: .of(Data([0, 255])))
    let value = ArchiveEntry.merge(
      ArchiveEntry.make(exchange), requestBody: [0, 255], body: Array("moved".utf8))
    let again = try readBack(value)
    #expect(again.requestBody == Data([0, 255]) && again.body == Data("moved".utf8))
    exchange.request.body = nil
    #expect(again.description == exchange)
    #expect(ArchiveEntry(value).value == value, "it has everything that is required")

    exchange.response = nil
    exchange.redirect = nil
    exchange.responseAfter = nil
    exchange.failure = .init(domain: "CustomErrorDomain", code: 7)
    #expect(try readBack(ArchiveEntry.make(exchange)).description == exchange)
  }

  private func readBack(_ value: ArchiveValue) throws -> ArchivedExchange {
    try exchange(String(decoding: value.json, as: UTF8.self))
  }
}

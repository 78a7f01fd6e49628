import Foundation
import Redaction
import Testing
import ZipArchive

/// The formats in which secrets are found. All other bytes remain the same.
struct FormatTests {
  private static let secretInGzip = "H4sIAAAAAAACA6tWKsjMU7JSyshMSUnNU6oFAJqKScMQAAAA"
  private static let plainInGzip = "H4sIAAAAAAACA6tWSlSyMqwFAK+sG1YHAAAA"

  private func redacted(_ text: String, _ rules: [RedactionRule] = .usualSecrets) throws -> String {
    String(decoding: try Redactor(rules: rules).redact(Data(text.utf8), as: "a"), as: UTF8.self)
  }

  @Test(arguments: [
    (#"{"a":"{\"token\":\"abc\"}"}"#, #"{"a":"{\"token\":\"[redacted]\"}"}"#),
    (
      #"{"a":"{\"b\":\"{\\\"token\\\":\\\"abc\\\"}\"}"}"#,
      #"{"a":"{\"b\":\"{\\\"token\\\":\\\"[redacted]\\\"}\"}"}"#
    ),
    (#"{"name":"Authorization","value":"abc"}"#, #"{"name":"Authorization","value":"[redacted]"}"#),
    (#"{"value":5,"key":"pin"}"#, #"{"value":0,"key":"pin"}"#),
    (#"{"k":"token","v":{"stringValue":"abc"}}"#, #"{"k":"token","v":{}}"#),
    (#"{"name":"title","value":"abc"}"#, #"{"name":"title","value":"abc"}"#),
    (#"[["Authorization","abc"],["Accept","b"]]"#, #"[["Authorization","[redacted]"],["Accept","b"]]"#),
    (#"["token","abc"]"#, #"["token","abc"]"#),
    (#"{"http.request.header.cookie":["abc"]}"#, #"{"http.request.header.cookie":[]}"#),
    (#"{"password":{"a":[1,"abc"]},"b":1}"#, #"{"password":{},"b":1}"#),
    ("{\"token\":1}\n{\"token\":\"a\"}\n", "{\"token\":0}\n{\"token\":\"[redacted]\"}\n"),
    (#" "token=a b" "#, #" "token=[redacted] b" "#), ("\n5555555555554444\n", "\n0\n"),
    ("4111 1111 1111 1111", "[redacted]"),
  ])
  func `values of secret names are removed from JSON`(before: String, after: String) throws {
    #expect(try redacted(before) == after)
    #expect(try redacted(after) == after)
  }

  @Test(arguments: [
    ("password=a,b;c&x=1", "password=[redacted]&x=1"),
    ("user%5Bpassword%5D=a%2Cb&x=1", "user%5Bpassword%5D=[redacted]&x=1"),
    ("https://ann:pw@localhost/", "https://[redacted]@localhost/"),
    (
      "https://example.com/a?token=x,y&z=1#access_token=q",
      "https://example.com/a?token=[redacted]&z=1#access_token=[redacted]"
    ),
    (
      "to=https%3A%2F%2Fa.example%2F%3Ftoken%3Dx%26y%3D1",
      "to=https%3A%2F%2Fa.example%2F%3Ftoken%3D[redacted]%26y%3D1"
    ),
    ("X-Auth-Token: a b c\r\nAge: 1", "X-Auth-Token: [redacted]\r\nAge: 1"),
    ("key AKIAIOSFODNN7EXAMPLE.", "key [redacted]."), ("token: [1, 2] end", "token: [redacted] end"),
    (#"log {"a":1,"pin":{"b":[1]}} end"#, #"log {"a":1,"pin":{}} end"#),
    (#"sent {\"pin\":12,\"a\":1} end"#, #"sent {\"pin\":0,\"a\":1} end"#),
    (
      "-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----\nx",
      "-----BEGIN EC PRIVATE KEY-----[redacted]-----END EC PRIVATE KEY-----\nx"
    ),
    ("data: {\"a\":1,\ndata: \"pin\":5}\n\n", "data: {\"a\":1,\ndata: \"pin\":0}\n\n"),
    (#"token: Optional("a b") x"#, "token: [redacted] x"),
    ("{'pin': b'1 2', 'a': 3}", "{'pin': [redacted]', 'a': 3}"),
    (#"token: Token(value: "a b", id: 1), x"#, "token: [redacted], x"),
    ("Cookie = (\n \"a=b\"\n);", "Cookie = [redacted];"),
    (#""password" => "a b", x"#, #""password" => "[redacted]", x"#), ("pin := 1, x", "pin := [redacted], x"),
    ("a=1&p=%7B%22pin%22%3A+%22x+y%22%7D", "a=1&p=%7B%22pin%22%3A+%22[redacted]%22%7D"),
    ("x eyJ0b2tlbiI6ImFiYyJ9 y", "x eyJ0b2tlbiI6IltyZWRhY3RlZF0ifQ== y"),
  ])
  func `secrets are removed from text, and from documents inside it`(before: String, after: String) throws {
    #expect(try redacted(before) == after)
    #expect(try redacted(after) == after)
  }

  @Test(arguments: [
    (
      "<a><s:pin>1</s:pin><b pin='2' c=\"3\"/></a>",
      "<a><s:pin>[redacted]</s:pin><b pin='[redacted]' c=\"3\"/></a>"
    ),
    ("<auth>\n <x>1</x><![CDATA[2]]>\n</auth>", "<auth>\n <x>[redacted]</x><![CDATA[[redacted]]]>\n</auth>"),
    (
      "<plist><dict><key>pin</key><integer>1</integer><key>n</key><integer>2</integer></dict></plist>",
      "<plist><dict><key>pin</key><integer>0</integer><key>n</key><integer>2</integer></dict></plist>"
    ),
    ("<a>{&quot;pin&quot;:1}</a>", "<a>{&quot;pin&quot;:0}</a>"),
    ("<input name=pin value=1><p>x</p>", "<input name=pin value=[redacted]><p>x</p>"),
    ("<script>let a = {\"pin\":1}</script>", "<script>let a = {\"pin\":0}</script>"),
  ])
  func `secrets are removed from markup`(before: String, after: String) throws {
    #expect(try redacted(before) == after)
    #expect(try redacted(after) == after)
  }

  @Test(arguments: [
    ("auth: [started\nnext", "auth: [redacted]\nnext"),
    (#"{"a":"auth: {","b":"kept"}"#, #"{"a":"auth: [redacted]","b":"kept"}"#),
    (#"{"a":"password: \"x","b":"kept\""}"#, #"{"a":"password: \"[redacted]","b":"kept\""}"#),
    (#"{"a":"-----BEGIN PRIVATE KEY-----","b":"kept"}"#, #"{"a":"-----BEGIN PRIVATE KEY-----","b":"kept"}"#),
    (#"{"a":"Cookie: a","b":"kept"}"#, #"{"a":"Cookie: [redacted]","b":"kept"}"#),
  ])
  func `what is not complete ends with its line or its value`(before: String, after: String) throws {
    #expect(try redacted(before) == after)
  }

  @Test func `the parts of a multipart body are cleaned, and files are kept`() throws {
    let before = """
      --b\r\nContent-Disposition: form-data; name="pin"\r\n\r\n1\r\n--b\r\n\
      Content-Disposition: form-data; name="f"\r\n\r\n{"pin":1}\r\n--b\r\n\r\n\u{89}PNG\r\n--b--\r\n
      """
    var bytes = Data(before.utf8)
    let png = try #require(bytes.firstRange(of: Data("\u{89}PNG".utf8)))
    bytes.replaceSubrange(png, with: [0x89, 0x50, 0x4E, 0x47, 0x00, 0xFF])
    let left = try Redactor(rules: .usualSecrets).redact(bytes, as: "a")
    #expect(left.firstRange(of: Data([0x89, 0x50, 0x4E, 0x47, 0x00, 0xFF])) != nil)
    #expect(left.firstRange(of: Data("\r\n\r\n[redacted]\r\n--b".utf8)) != nil)
    #expect(left.firstRange(of: Data(#"{"pin":0}"#.utf8)) != nil)
  }

  @Test func `a binary property list keeps its types, and shared objects keep their other places`() throws {
    let list: [String: Any] = [
      "pin": 1, "count": 1, "token": ["a"], "secret": Data([1]),
      "pairs": [["name": "Authorization", "value": "x y"]],
      "json": Data(#"{"pin":"hidden"}"#.utf8), "text": "ü password=hidden", "auth": true,
      "many": (0..<300).map { "value \($0)" },
    ]
    let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    let left = try Redactor(rules: .usualSecrets).redact(bytes, as: "a")
    let read = try #require(
      try PropertyListSerialization.propertyList(from: left, format: nil) as? [String: Any])
    #expect(read["pin"] as? Int == 0 && read["count"] as? Int == 1)
    #expect((read["token"] as? [String])?.isEmpty == true && read["secret"] as? Data == Data())
    #expect(read["pairs"] as? [[String: String]] == [["name": "Authorization", "value": "[redacted]"]])
    #expect(read["json"] as? Data == Data(#"{"pin":"[redacted]"}"#.utf8))
    #expect(read["text"] as? String == "ü password=[redacted]")
    #expect(read["many"] as? [String] == list["many"] as? [String])
    #expect(left.firstRange(of: Data("x y".utf8)) == nil && left.firstRange(of: Data("hidden".utf8)) == nil)
  }

  @Test func `a compressed body with secrets is compressed again, another one is unchanged`() throws {
    // {"pin":"hidden"} and {"a":1}
    let secret = try #require(Data(base64Encoded: Self.secretInGzip))
    let plain = try #require(Data(base64Encoded: Self.plainInGzip))
    let redactor = Redactor(rules: .usualSecrets)
    for format in [CompressedBody.Format.gzip, .zlib, .raw] {
      let body = Data(try CompressedBody.deflate(Array(#"{"pin":"hidden"}"#.utf8), as: format))
      let left = Array(try redactor.redact(body, as: "a"))
      let inflated = CompressedBody.inflate(left, isRaw: format == .raw, limit: 1000)
      #expect(inflated == .bytes(Array(#"{"pin":"[redacted]"}"#.utf8)))
    }
    #expect(try redactor.redact(secret, as: "a").starts(with: [0x1F, 0x8B]))
    #expect(try redactor.redact(plain, as: "a") == plain)
    #expect(throws: Redactor.Failure.self) { try redactor.redact(secret.dropLast(3), as: "a") }
  }

  // MARK: - Placeholders

  @Test func `equal secrets become equal placeholders in all formats, other ones differ`() throws {
    let redactor = Redactor(rules: .usualSecrets, placeholders: .distinct())
    func left(_ text: String) throws -> String {
      String(decoding: try redactor.redact(Data(text.utf8), as: "a"), as: UTF8.self)
    }
    let mark = try left(#"{"token":"a,b"}"#).dropFirst(10).dropLast(2)
    #expect(mark.wholeMatch(of: /\[redacted-[0-9A-F]{8}\]/) != nil, "\(mark)")
    #expect(try left("token=a,b&x=1") == "token=\(mark)&x=1")
    #expect(try left("token=a%2Cb&x=1") == "token=\(mark)&x=1")
    #expect(try left("<token>a,b</token>") == "<token>\(mark)</token>")
    #expect(try left(#"{"b":"{\"token\":\"a,b\"}"}"#) == #"{"b":"{\"token\":\"\#(mark)\"}"}"#)
    #expect(redactor.redact(field: "X-Token", "a,b", as: "a") == mark)
    #expect(try !left(#"{"token":"a,c"}"#).contains(mark))
    // Another launch has another key.
    let next = Redactor(rules: .usualSecrets, placeholders: .distinct())
    #expect(next.redact(field: "X-Token", "a,b", as: "a") != mark)
  }

  @Test(arguments: [(1, 19), (19, 19), (20, 64), (64, 64), (65, 256), (257, 1024), (9000, 1024)])
  func `the length of a placeholder tells roughly that of the secret`(length: Int, expected: Int) throws {
    let redactor = Redactor(rules: .usualSecrets, placeholders: .distinct())
    let json = Data(#"{"pin":"\#(String(repeating: "x", count: length))"}"#.utf8)
    #expect(try redactor.redact(json, as: "a").count == #"{"pin":""}"#.utf8.count + expected)
  }

  @Test(arguments: ["123456", "4294967295", "9223372036854775807"])
  func `a secret integer becomes an equal one for equal integers, of the same length`(number: String) throws {
    let redactor = Redactor(rules: .usualSecrets, placeholders: .distinct())
    let json = Data(
      #"[{"pin":\#(number)},{"pin":\#(number)},{"pin":12345},{"pin":1.234567},{"pin":-123456}]"#.utf8)
    let left = try JSONDecoder().decode([[String: Decimal]].self, from: redactor.redact(json, as: "a"))
    #expect(left[0] == left[1] && left[0]["pin"]?.description.count == number.count)
    #expect(left[0]["pin"]?.description != number)
    #expect(left[2...].allSatisfy { $0["pin"] == 0 })
  }

  @Test(arguments: [
    #"get(a, {credentials: "abc", b});"#, #"document.cookie = 'a=b'+c+'; path=/';"#,
    #"x = {\"pin\":\"abc\", y"#,
    "password=a&b=c", "Cookie: a=b",
  ])
  func `what is redacted in text stays as it is at the next redaction`(text: String) throws {
    let redactor = Redactor(rules: .usualSecrets, placeholders: .distinct())
    let once = try redactor.redact(Data(text.utf8), as: "a")
    #expect(once != Data(text.utf8))
    #expect(try Redactor(rules: .usualSecrets, placeholders: .distinct()).redact(once, as: "a") == once)
  }

  @Test func `what is redacted already stays, except in a comparison, where all placeholders are the same`()
    throws
  {
    let redactor = Redactor(rules: .usualSecrets, placeholders: .distinct())
    let once = try redactor.redact(
      Data(#"{"pin":"x","b":"token=y a@b.example https://u:p@h/ eyJhbGciOiJIUzI1NiJ9.e30.sig"}"#.utf8),
      as: "a")
    #expect(try redactor.redact(once, as: "a") == once)
    let uniform = Data(
      #"{"pin":"[redacted]","b":"token=[redacted] [redacted] https://[redacted]@h/ [redacted]"}"#.utf8)
    #expect(try redactor.redactUniformly(once, as: "a") == uniform)
    let encoded = "a?to=%5Bredacted-0F1E2D3C.%5D"
    #expect(redactor.redact(identifier: encoded) == "a?to=[redacted]")
  }

  @Test func `unknown binary data is refused unless it is to be kept, and media are kept`() throws {
    let (unknown, picture) = (Data([0xFF, 0]) + Data("a@b.example".utf8), Data([0xFF, 0xD8, 0xFF, 0xE0, 0]))
    let redactor = Redactor(rules: .usualSecrets)
    let failure = #expect(throws: Redactor.Failure.self) { try redactor.redact(unknown, as: "a") }
    #expect(failure?.limit == .unknownBinary)
    #expect(try redactor.redact(picture, as: "a") == picture)
    #expect(try Redactor(rules: []).redact(unknown, as: "a") == unknown)
    let keeping = Redactor(rules: .usualSecrets, unknownBinaries: .keep)
    #expect(try keeping.redact(unknown, as: "a") == Data([0xFF, 0]) + Data("***********".utf8))
  }

  @Test func `values are searched eight deep, and deeper ones are refused`() throws {
    func nested(_ depth: Int) throws -> Data {
      var json = Data(#"{"pin":1}"#.utf8)
      for _ in 0..<depth { json = Data(try JSONEncoder().encode(["a": json.base64EncodedString()])) }
      return json
    }
    // Each level is a document and an encoding.
    for depth in 1...4 {
      let left = try Redactor(rules: .usualSecrets).redact(try nested(depth), as: "a")
      #expect(left != (try nested(depth)))
    }
    let failure = #expect(throws: Redactor.Failure.self) {
      try Redactor(rules: .usualSecrets).redact(try nested(9), as: "a")
    }
    #expect(failure?.limit == .tooDeep)
  }
}

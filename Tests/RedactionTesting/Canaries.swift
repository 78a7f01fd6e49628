package import Foundation

/// Makes documents that contain a secret, in every place of every format and encoding, in the same order at every call.
package struct Canaries {
  /// A document with a secret that must not be stored.
  package struct Planted: Sendable {
    package let canary: String
    package let data: Data
    /// Where the canary is, such as `XML attribute in base64 in JSON string`.
    package let place: String
    package let format: Format
  }

  package enum Format: Sendable { case json, jsonLines, xml, text }

  private struct Place: Sendable {
    let name: String
    let format: Format
    let make: @Sendable (_ name: String, _ canary: String) -> String

    init(_ name: String, _ format: Format, _ make: @escaping @Sendable (String, String) -> String) {
      (self.name, self.format, self.make) = (name, format, make)
    }
  }

  private struct Wrapper: Sendable {
    let name: String
    let format: Format
    let wrap: @Sendable (String) -> String

    init(_ name: String, _ format: Format, _ wrap: @escaping @Sendable (String) -> String) {
      (self.name, self.format, self.wrap) = (name, format, wrap)
    }
  }

  private static let names = [
    "password", "access_token", "apiKey", "client-secret", "sessionId", "REFRESH_TOKEN", "private_key", "pwd",
    "otp",
    "auth", "x-api-key", "cookie", "authorization", "csrfToken", "passphrase",
  ]

  private static let places = [
    Place("JSON member", .json) { #"{"a":1,"\#($0)":"\#($1)","b":[true,null,1.50]}"# },
    Place("JSON array", .json) { #"{"\#($0)":["x",{"y":"\#($1)"}]}"# },
    Place("JSON object", .json) { #"{"a":{"\#($0)":{"x":{"y":"\#($1)"},"z":2}}}"# },
    Place("JSON pair", .json) {
      #"{"headers":[{"name":"Accept","value":"*/*"},{"name":"\#($0)","value":"\#($1)"}]}"#
    },
    Place("JSON pair, value first", .json) { #"[{"v":"\#($1)","k":"\#($0)"}]"# },
    Place("JSON pair of objects", .json) {
      #"{"attributes":[{"key":"\#($0)","value":{"stringValue":"\#($1)"}}]}"#
    },
    Place("JSON list of pairs", .json) { #"[["Accept","a"],["\#($0)","\#($1)"]]"# },
    Place("JSON qualified key", .json) { #"{"http.request.header.\#($0)":"\#($1)"}"# },
    Place("JSON text", .json) { #"{"log":"12:00 started, \#($0)=\#($1), then ended"}"# },
    Place("JSON URL", .json) { #"{"next":"https:\/\/example.com\/a?page=2&\#($0)=\#($1)#top"}"# },
    Place("JSON Lines", .jsonLines) { "{\"a\":1}\n{\"\($0)\":\"\($1)\"}\n" },
    Place("cut JSON", .text) { #"{"a":1,"\#($0)":{"x":["\#($1)"# },
    Place("form", .text) { "a=1&\($0)=\($1)%2C,rest&b=2" },
    Place("form with encoded name", .text) { "user%5B\($0)%5D=\($1)&b=2" },
    Place("URL query", .text) { "https://example.com/a?x=1&\($0)=\($1),more&y=2" },
    Place("URL fragment", .text) { "https://example.com/a#state=1&\($0)=\($1)" },
    Place("URL user", .text) { _, canary in "fetch https://ann:\(canary)@example.com/a now" },
    Place("header field", .text) {
      "GET / HTTP/1.1\r\nHost: example.com\r\n\($0): \($1)\r\nAccept: */*\r\n\r\n"
    },
    Place("quoted assignment", .text) { "2026-11-26 12:00 login \($0) = \"\($1) and more\" ok" },
    Place("JSON in a log", .text) { #"12:00 [net] sent {"a":[1],"\#($0)":{"x":"\#($1)"}} in 5 ms"# },
    Place("escaped JSON in a log", .text) { #"12:00 sent {\"a\":1,\"\#($0)\":\"\#($1)\"} in 5 ms"# },
    Place("bearer", .text) { _, canary in "curl -H 'Accept: a' with Bearer \(canary).x-y_z" },
    Place("web token", .text) { _, canary in "got eyJhbGciOiJub25lIn0.\(canary).sig as answer" },
    Place("GitHub key", .text) { _, canary in "using ghp_\(padded(canary, 36)) here" },
    Place("Stripe key", .text) { _, canary in "using sk_live_\(padded(canary, 24)) here" },
    Place("Google key", .text) { _, canary in "using AIza\(padded(canary, 35)) here" },
    Place("Slack key", .text) { _, canary in "using xoxb-12345-\(canary) here" },
    Place("private key", .text) { _, canary in
      "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\(canary)\n\(canary)==\n-----END RSA PRIVATE KEY-----\n"
    },
    Place("XML element", .xml) { "<?xml version=\"1.0\"?>\n<a><b>1</b><\($0)>\($1)</\($0)></a>" },
    Place("XML below an element", .xml) { "<a><\($0)><x y=\"1\">t</x><z>\($1)</z></\($0)><b/></a>" },
    Place("XML attribute", .xml) { "<a><b c=\"1\" \($0)=\"\($1)\"/></a>" },
    Place("XML namespace", .xml) { "<s:a xmlns:s=\"urn:x\"><s:\($0)>\($1)</s:\($0)></s:a>" },
    Place("XML section", .xml) { "<a><\($0)><![CDATA[\($1)]]></\($0)></a>" },
    Place("XML pair", .xml) { "<h><name>\($0)</name><value>\($1)</value></h>" },
    Place("XML pair of attributes", .xml) { "<p><property name=\"\($0)\" value=\"\($1)\"/></p>" },
    Place("XML named element", .xml) { "<resources><string name=\"\($0)\">\($1)</string></resources>" },
    Place("XML text", .xml) {
      "<a><![CDATA[{\"\($0)\":\"\($1)\"}]]><b>{&quot;\($0)&quot;:[&quot;\($1)&quot;]}</b></a>"
    },
    Place("property list", .xml) {
      "<plist version=\"1.0\"><dict><key>a</key><true/><key>\($0)</key><string>\($1)</string></dict></plist>"
    },
    Place("nested property list", .xml) {
      "<plist><dict><key>\($0)</key><array><dict><key>x</key><string>\($1)</string></dict></array></dict></plist>"
    },
    Place("HTML input", .text) {
      "<!DOCTYPE html><form><input name=\"\($0)\" value=\"\($1)\"><input type=\"password\" value=\"\($1)\"></form>"
    },
    Place("HTML script", .text) { "<html><script>var s = {\"\($0)\": \"\($1)\"};</script><p>x</p></html>" },
    Place("event stream", .text) { "event: a\ndata: {\"x\":1,\ndata: \"\($0)\":\"\($1)\"}\n\ndata: end\n\n" },
    Place("form part", .text) {
      "--b0\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n\($1)\r\n--b0--\r\n"
    },
    Place("JSON in a form part", .text) {
      "--b0\r\nContent-Disposition: form-data; name=\"f\"\r\nContent-Type: application/json\r\n\r\n"
        + "{\"\($0)\":\"\($1)\"}\r\n--b0--\r\n"
    },
  ]

  private static let wrappers = [
    Wrapper("JSON string", .json) { "{\"body\":\(quoted($0)),\"n\":1}" },
    Wrapper("JSON array", .json) { "[1,\(quoted($0))]" },
    Wrapper("base64", .json) { "{\"b\":\"\(Data($0.utf8).base64EncodedString())\"}" },
    Wrapper("URL-safe base64", .text) { "state=\(urlSafe($0))&x=1" },
    Wrapper("percent-encoding", .text) { "https://example.com/r?to=\(percent($0))&x=1" },
    Wrapper("XML text", .xml) { "<m><t>\(entities($0))</t></m>" },
    Wrapper("XML attribute", .xml) { "<m><t v=\"\(entities($0))\"/></m>" },
    Wrapper("base64 in a log", .text) { "12:00 body \(Data($0.utf8).base64EncodedString()) end" },
  ]

  /// All places, alone and in one and two encodings, and a selection in three.
  package static func all() -> [Planted] {
    var planted: [Planted] = []
    var number = 0
    func add(_ place: Place, _ wrappers: [Wrapper]) {
      number += 1
      let digits = String(number)
      let canary = "Zq" + String(repeating: "0", count: 5 - digits.count) + digits + "Canary"
      var text = place.make(names[number % names.count], canary)
      for wrapper in wrappers { text = wrapper.wrap(text) }
      planted.append(
        Planted(
          canary: canary, data: Data(text.utf8),
          place: ([place.name] + wrappers.map(\.name)).joined(separator: " in ")
            + " (\(names[number % names.count]))",
          format: wrappers.last?.format ?? place.format))
    }
    for (index, place) in places.enumerated() {
      add(place, [])
      for (first, inner) in wrappers.enumerated() {
        add(place, [inner])
        for (second, outer) in wrappers.enumerated() where (index + first + second).isMultiple(of: 5) {
          add(place, [inner, outer])
          let last = wrappers[(index + first * 3 + second) % wrappers.count]
          if (index + second).isMultiple(of: 2) { add(place, [inner, outer, last]) }
        }
      }
    }
    return planted
  }

  /// Every `step`-th of all documents.
  package static func some(every step: Int) -> [Planted] {
    all().enumerated().filter { $0.offset.isMultiple(of: step) }.map(\.element)
  }

  private static func padded(_ text: String, _ length: Int) -> String {
    text + String(repeating: "a", count: max(0, length - text.count))
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\u000d"
      case "/": quoted += "\\/"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  private static func urlSafe(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
      "=", with: "")
  }

  private static func percent(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = (0x30...0x39 ~= byte) || (0x41...0x5A ~= byte) || (0x61...0x7A ~= byte)
      return isPlain
        ? String(UnicodeScalar(byte))
        : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  private static func entities(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("\r", with: "&#13;").replacing("\n", with: "&#xA;")
  }

  // MARK: - Looking for them

  /// Whether `data` contains the canary, as it is or in base64, and percent-encoded or not.
  package static func reveals(_ data: Data, _ canary: String, depth: Int = 8) -> Bool {
    if data.firstRange(of: Data(canary.utf8)) != nil { return true }
    guard depth > 0 else { return false }
    if data.contains(UInt8(ascii: "%")) {
      let text = String(decoding: data, as: UTF8.self)
      if let decoded = text.removingPercentEncoding, decoded != text {
        return reveals(Data(decoded.utf8), canary, depth: depth - 1)
      }
    }
    return data.split { !isDigit[Int($0)] }.contains { run in
      var digits = Data(run.filter { $0 != UInt8(ascii: "\\") })
      guard digits.count >= 16, digits.count % 4 != 1 else { return false }
      for index in digits.indices {
        if digits[index] == UInt8(ascii: "-") { digits[index] = UInt8(ascii: "+") }
        if digits[index] == UInt8(ascii: "_") { digits[index] = UInt8(ascii: "/") }
      }
      digits += Data(repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
      return Data(base64Encoded: digits).map { reveals($0, canary, depth: depth - 1) } ?? false
    }
  }

  /// The digits of base64. A backslash before a slash is passed over.
  private static let isDigit: [Bool] = (0...255).map { byte in
    (0x30...0x39 ~= byte) || (0x41...0x5A ~= byte) || (0x61...0x7A ~= byte)
      || "+/-_\\".utf8.contains(UInt8(byte))
  }
}

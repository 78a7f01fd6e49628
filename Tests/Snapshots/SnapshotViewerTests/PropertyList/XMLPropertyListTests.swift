import SnapshotViewer
import Testing

struct XMLPropertyListTests {
  private func json(
    _ text: String, _ limits: PropertyList.Limits = PropertyList.Limits()
  ) throws(PropertyListFailure) -> String? {
    let json = try PropertyList.json(of: Array(text.utf8), .xml, limits: limits)
    return json.map { String(decoding: $0, as: UTF8.self) }
  }

  private func reason(
    _ text: String, _ limits: PropertyList.Limits = PropertyList.Limits()
  ) -> PropertyListFailure.Reason? {
    do throws(PropertyListFailure) {
      _ = try json(text, limits)
      return nil
    } catch {
      #expect(!error.description.isEmpty)
      return error.reason
    }
  }

  private func value(_ element: String) throws(PropertyListFailure) -> String? {
    try json("<plist version=\"1.0\">\(element)</plist>")
  }

  @Test func `a property list that another program has written becomes JSON`() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<key>name</key>
      \t<string>Mira &amp; ä</string>
      \t<key>when</key>
      \t<date>2026-11-21T21:30:00Z</date>
      \t<key>data</key>
      \t<data>
      \tAAFo
      \tZWxsbw==
      \t</data>
      \t<key>list</key>
      \t<array>
      \t\t<integer>9223372036854775808</integer>
      \t\t<real>1.50</real>
      \t\t<true/>
      \t\t<array/>
      \t\t<dict/>
      \t</array>
      </dict>
      </plist>

      """
    #expect(
      try json(text)
        == "{\"name\":\"Mira & ä\",\"when\":\t\"2026-11-21T21:30:00Z\",\"data\":\n\"AAFoZWxsbw==\","
        + "\"list\":[9223372036854775808,1.50,true,[],{}]}")
    #expect(try json("\u{FEFF}" + text) == json(text))
    #expect(try json(text.replacing("\n", with: "\r\n")) == json(text))
  }

  @Test(arguments: [
    ("<string/>", "\"\""), ("<string></string>", "\"\""), ("<string> a </string >", "\" a \""),
    ("<string>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F44D;</string>", "\"<>&\\\"'A👍\""),
    ("<string>a<![CDATA[<b>&amp;]] ]]>c<!-- no -->d<?no?>e</string>", "\"a<b>&amp;]] cde\""),
    ("<string>a\r\nb\rc\r\r\n</string>", #""a\u000ab\u000ac\u000a\u000a""#),
    ("<string>\"\\</string>", #""\"\\""#),
    ("<true/>", "true"), ("<false></false>", "false"), ("<true> </true>", "true"),
    ("<integer>-0</integer>", "0"), ("<integer>+007</integer>", "7"), ("<integer> -12\n</integer>", "-12"),
    ("<integer>0xFf</integer>", "255"), ("<integer>-0x10</integer>", "-16"),
    ("<integer>123456789012345678901234567890</integer>", "123456789012345678901234567890"),
    ("<real>1e400</real>", "1e400"), ("<real>.5</real>", "0.5"), ("<real>+1.</real>", "1.0"),
    ("<real>nan</real>", " \"nan\""), ("<real>-infinity</real>", " \"-inf\""), ("<real>01.5</real>", "1.5"),
    ("<data/>", "\n\"\""), ("<data>\n/w = =\t</data>", "\n\"/w==\""), ("<data>/w</data>", "\n\"/w\""),
    ("<dict><key/><dict/></dict>", "{\"\":{}}"), (" <!-- a --> <array> <?b?> </array> <!-- c --> ", "[]"),
  ])
  func `every element is written as JSON`(element: String, expected: String) throws {
    #expect(try value(element) == expected)
  }

  @Test(
    arguments: [
      ("", .markup), ("text", .markup), ("<true/><true/>", .markup), ("<key>a</key>", .markup),
      ("<plist/>", .markup),
      ("<dict><true/></dict>", .markup), ("<dict><key>a</key></dict>", .markup),
      ("<dict><key>a</key><key>b</key><true/></dict>", .markup), ("<array><key>a</key></array>", .markup),
      ("<dict></array>", .markup), ("<array>", .markup), ("<set/>", .markup), ("<TRUE/>", .markup),
      ("<true>a</true>", .markup), ("<string a='b'>c</string>", .markup), ("<string><b/></string>", .markup),
      ("<string>a</key>", .markup), ("<string>&nbsp;</string>", .entity), ("<string>&#0;</string>", .entity),
      ("<string>&#xD800;</string>", .entity), ("<string>&#x110000;</string>", .entity),
      ("<string>&#;</string>", .entity),
      ("<string>&#99999999999999999999;</string>", .entity), ("<string>& </string>", .entity),
      ("<integer/>", .number), ("<integer>1.5</integer>", .number), ("<integer>0x</integer>", .number),
      ("<integer>0x+1</integer>", .number), ("<real>one</real>", .number), ("<real> </real>", .number),
      ("<date>2026-02-30T00:00:00Z</date>", .date), ("<date>yesterday</date>", .date),
      ("<data>A</data>", .data),
      ("<data>A===</data>", .data), ("<data>A=AA</data>", .data), ("<data>-_-_</data>", .data),
      ("<string><!-- </string>", .incomplete), ("<string><![CDATA[</string>", .incomplete),
    ] as [(String, PropertyListFailure.Reason)])
  func `a malformed element is refused`(element: String, expected: PropertyListFailure.Reason) {
    #expect(reason("<plist>\(element)</plist>") == expected)
  }

  @Test(
    arguments: [
      ("<plist>", .incomplete), ("<plist><true/>", .incomplete), ("<plist><true/></plist><plist/>", .markup),
      ("<plist><true/></plist>text", .markup),
      ("<?xml version='1.0' encoding='UTF-16'?><plist><true/></plist>", .encoding),
      ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>", .declarations),
      ("<!DOCTYPE plist SYSTEM \"a\" [ ]><plist><true/></plist>", .declarations),
      ("<!DOCTYPE plist SYSTEM \"file:///etc/passwd\"><plist><string>&a;</string></plist>", .entity),
      ("<!DOCTYPE plist", .incomplete), ("<?xml", .incomplete), ("<plist a='", .incomplete),
      ("<plist <", .markup),
    ] as [(String, PropertyListFailure.Reason)])
  func `a malformed file is refused`(text: String, expected: PropertyListFailure.Reason) {
    #expect(reason(text) == expected)
  }

  @Test func `other XML is none`() throws {
    #expect(try json("<?xml version=\"1.0\"?><svg xmlns=\"a\"/>") == nil)
    #expect(try json("<!DOCTYPE html><plist/>") == nil)
  }

  @Test func `a text that is not UTF-8 is refused`() {
    for wrong in [[0xFF], [0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]] {
      let bytes = Array("<plist><string>".utf8) + wrong + Array("</string></plist>".utf8)
      #expect(throws: PropertyListFailure.self) { try PropertyList.json(of: bytes, .xml) }
    }
  }

  @Test func `a long file is converted in pieces`() throws {
    let long = String(repeating: "é&amp;", count: 40_000)
    let rows = (0..<3000).map { "<dict><key>k\($0)</key><string>\($0)</string></dict>" }.joined(
      separator: "\n")
    let text = try value("<array><string>\(long)</string>\(rows)</array>") ?? ""
    #expect(text.hasPrefix("[\"" + String(repeating: "é&", count: 40_000) + "\",{\"k0\":\"0\"},"))
    #expect(text.hasSuffix(",{\"k2999\":\"2999\"}]"))
  }

  @Test func `nesting, values, bytes, words and size have limits`() throws {
    func nested(_ depth: Int) -> String {
      "<plist>" + String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
        + "</plist>"
    }
    #expect(reason(nested(512)) == nil)
    #expect(reason(nested(513)) == .depth(512))
    let three = "<plist><array><true/><true/></array></plist>"
    var limits = PropertyList.Limits()
    (limits.values, limits.bytes, limits.size) = (3, 11, three.utf8.count)
    #expect(try json(three, limits) == "[true,true]")
    limits.values = 2
    #expect(reason(three, limits) == .values(2))
    (limits.values, limits.bytes) = (3, 10)
    #expect(reason(three, limits) == .bytes(10))
    (limits.bytes, limits.size) = (11, three.utf8.count - 1)
    #expect(reason(three, limits) == .size(three.utf8.count - 1))
    let digits = String(repeating: "1", count: 512)
    #expect(try value("<integer>\(digits)</integer>") == digits)
    #expect(reason("<plist><integer>\(digits)1</integer></plist>") == .markup)
  }

  @Test(arguments: [
    ("bplist00", PropertyList.Form.binary), ("\u{FEFF}\n<?xml version", .xml), ("<!DOCTYPE plist>", .xml),
    ("<plist>", .xml), ("bplist15", nil), ("<html>", nil), ("", nil), ("{", nil),
  ])
  func `the beginning tells the format`(text: String, form: PropertyList.Form?) {
    #expect(PropertyList.form(of: Array(text.utf8)) == form)
  }
}

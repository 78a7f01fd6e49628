/// Finds keys by the forms that large providers have published, so that they are found without a name.
enum ProviderKeys {
  private struct Form: Sendable {
    let prefix: [UInt8]
    /// The number of characters after the prefix.
    let length: ClosedRange<Int>
    let characters: @Sendable (UInt8) -> Bool

    init(_ prefix: String, _ length: ClosedRange<Int>, _ characters: @escaping @Sendable (UInt8) -> Bool) {
      (self.prefix, self.length, self.characters) = (Array(prefix.utf8), length, characters)
    }
  }

  @Sendable private static func isWord(_ byte: UInt8) -> Bool {
    Characters.isAlphanumeric(byte) || byte == UInt8(ascii: "_")
  }
  @Sendable private static func isToken(_ byte: UInt8) -> Bool { isWord(byte) || byte == UInt8(ascii: "-") }
  @Sendable private static func isDotted(_ byte: UInt8) -> Bool { isToken(byte) || byte == UInt8(ascii: ".") }
  @Sendable private static func isCapital(_ byte: UInt8) -> Bool {
    Characters.isDigit(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }
  @Sendable private static func isHexadecimal(_ byte: UInt8) -> Bool { Hexadecimal.value(byte) != nil }

  private static let forms: [Form] =
    // Amazon Web Services: identifiers of access keys.
    ["AKIA", "ASIA", "ABIA", "ACCA"].map { Form($0, 16...16, isCapital) }
    // GitHub.
    + ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map { Form($0, 36...255, isWord) }
    + [Form("github_pat_", 22...255, isWord), Form("glpat-", 20...255, isToken)]
    // Slack.
    + ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"].map {
      Form($0, 10...512, isDotted)
    }
    // Stripe.
    + ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"].map { Form($0, 16...255, isWord) }
    // Google: API keys, OAuth access tokens and client secrets.
    + [Form("AIza", 35...35, isToken), Form("ya29.", 20...1024, isDotted), Form("GOCSPX-", 20...64, isToken)]
    // OpenAI and Anthropic, SendGrid, npm, PyPI, Twilio, Shopify, DigitalOcean, Hugging Face, Square.
    + [
      Form("sk-", 32...255, isToken), Form("SG.", 60...80, isDotted), Form("npm_", 36...36, isWord),
      Form("pypi-", 50...512, isToken), Form("SK", 32...32, isHexadecimal),
      Form("shpat_", 32...32, isHexadecimal),
      Form("shpss_", 32...32, isHexadecimal), Form("dop_v1_", 64...64, isHexadecimal),
      Form("hf_", 34...64, isWord),
      Form("sq0atp-", 22...64, isToken), Form("sq0csp-", 43...64, isToken),
    ]

  /// Rare characters, one of which is in each prefix: the last of them in a prefix is that at which the scanner looks.
  static let marks = "-_.AIK"

  /// The forms by the marks of their prefixes, and where the marks are.
  private static let byMark: [[(form: Form, offset: Int)]] = {
    var table = [[(form: Form, offset: Int)]](repeating: [], count: 256)
    for form in forms {
      guard let offset = form.prefix.lastIndex(where: marks.utf8.contains) else { continue }
      table[Int(form.prefix[offset])].append((form, offset))
    }
    return table
  }()
  /// The bytes before the marks.
  private static let befores = ByteSet(byMark.joined().map { $0.form.prefix[$0.offset - 1] })

  /// Finds the key with the mark at `index`, unless it begins before `first`.
  static func scan(_ text: [UInt8], _ index: Int, from first: Int, _ found: inout [Range<Int>]) -> Int {
    guard index > first, befores.contains(text[index - 1]) else { return first }
    for (form, offset) in byMark[Int(text[index])] {
      let start = index - offset
      if start >= first, start == 0 || !isWord(text[start - 1]), let end = end(of: form, text, start) {
        found.append(start..<end)
        return end
      }
    }
    return first
  }

  private static func end(of form: Form, _ text: [UInt8], _ index: Int) -> Int? {
    let start = index + form.prefix.count
    guard start < text.count, text[index..<start].elementsEqual(form.prefix) else { return nil }
    var end = start
    while end < text.count, end - start <= form.length.upperBound, form.characters(text[end]) { end += 1 }
    return form.length.contains(end - start) ? end : nil
  }
}

/// Finds private keys in PEM (RFC 7468).
enum PrivateKeyBlocks {
  /// The maximum length of a block.
  private static let limit = 64 << 10
  private static let begin = Array("-----BEGIN ".utf8)
  private static let end = Array("-----END ".utf8)
  private static let label = Array("PRIVATE KEY".utf8)
  private static let dashes = Array("-----".utf8)

  /// Finds the contents between the lines that begin and end a block. In text with escaped line ends, such as `\n`, too.
  /// `index` is that of the first dash.
  static func scan(_ text: [UInt8], _ index: Int, _ found: inout [Range<Int>]) -> Int {
    guard index + 1 < text.count, text[index + 1] == UInt8(ascii: "-"), has(dashes, text, index) else {
      return index + 1
    }
    let next = index + dashes.count
    guard has(begin, text, index), let close = nextDashes(text, from: index + begin.count),
      close - index < 80, hasSuffix(label, text, close)
    else { return next }
    let start = close + dashes.count
    // Without an end, everything that can belong to the key is removed.
    let stop = nextDashes(text, from: start).flatMap { has(end, text, $0) ? $0 : nil }
    var last = start
    while last < min(stop ?? text.count, start + limit), text[last] != 0, stop != nil || isContent(text[last])
    {
      last += 1
    }
    if last > start { found.append(start..<last) }
    return max(next, last)
  }

  private static func nextDashes(_ text: [UInt8], from start: Int) -> Int? {
    var index = start
    while index + 4 < text.count {
      // The last of five dashes decides how far to go.
      if text[index + 4] != UInt8(ascii: "-") {
        index += 5
      } else if has(dashes, text, index) {
        return index
      } else {
        index += 1
      }
    }
    return nil
  }

  private static func has(_ word: [UInt8], _ text: [UInt8], _ index: Int) -> Bool {
    guard index >= 0, index + word.count <= text.count else { return false }
    for offset in word.indices where text[index + offset] != word[offset] { return false }
    return true
  }

  private static func hasSuffix(_ word: [UInt8], _ text: [UInt8], _ end: Int) -> Bool {
    end >= word.count && has(word, text, end - word.count)
      || has(Array("PRIVATE KEY BLOCK".utf8), text, end - 17)
  }

  private static func isContent(_ byte: UInt8) -> Bool {
    Characters.isAlphanumeric(byte) || Characters.isSpace(byte) || "+/=\\:,-".utf8.contains(byte)
  }
}

/// The character set of names that aren't marked as UTF-8 (APPNOTE, appendix D).
enum CP437 {
  /// The characters of the bytes 0x00 to 0x1F: their pictures, for a name has no use for controls. NUL has none
  /// and is shown by its symbol.
  private static let low = Array("␀☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼".unicodeScalars)

  /// The characters of the bytes 0x80 to 0xFF.
  private static let high = Array(
    ("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
      + "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}").unicodeScalars)

  /// The characters that `bytes` stand for; every byte stands for one.
  static func decode(_ bytes: [UInt8]) -> String {
    var text = String.UnicodeScalarView()
    for byte in bytes {
      switch byte {
      case 0x00...0x1F: text.append(low[Int(byte)])
      case 0x7F: text.append("⌂")
      case 0x80...0xFF: text.append(high[Int(byte) - 0x80])
      default: text.append(Unicode.Scalar(byte))
      }
    }
    return String(text)
  }
}

/// Bech32 as written down in BIP 173, for keys that tests make.
enum Bech32Text {
  static func encode(_ bytes: [UInt8], prefix: String) -> String {
    let bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
    let digits = stride(from: 0, to: bits.count, by: 5).map { start in
      (0..<5).reduce(0) { $0 << 1 | (start + $1 < bits.count ? Int(bits[start + $1]) : 0) }
    }
    let letters = prefix.utf8.map(Int.init)
    var remainder = 1
    for value in letters.map({ $0 >> 5 }) + [0] + letters.map({ $0 & 31 }) + digits + [0, 0, 0, 0, 0, 0] {
      let top = remainder >> 25
      remainder = (remainder & 0x1FF_FFFF) << 5 ^ value
      for (bit, generator) in [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3].enumerated()
      where top >> bit & 1 == 1 {
        remainder ^= generator
      }
    }
    let checksum = (0..<6).map { (remainder ^ 1) >> (5 * (5 - $0)) & 31 }
    let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l")
    return prefix + "1" + String((digits + checksum).map { alphabet[$0] })
  }
}

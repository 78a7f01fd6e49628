import Crypto
import CryptoExtras
import Foundation
import SnapshotSealing
import Testing
import ZipArchive

/// The public test vectors of the format (C2SP CCTV), which `Tests/Sealing/run` fetches: the folder with its vectors is in
/// the variable `AGE_TESTKIT`.
@Suite(.enabled(if: Testkit.folder != nil, "AGE_TESTKIT does not name the folder of the vectors"))
struct TestkitTests {
  @Test func `every vector has the expected result`() throws {
    let folder = try #require(Testkit.folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    var counts: [String: Int] = [:]
    for name in names {
      let vector = try Testkit.Vector(contentsOf: URL(filePath: folder).appending(path: name))
      if vector.isArmored, vector.expectation == "armor failure" {
        #expect(throws: SealingError.malformedArmor, "\(name)") { try Armor.decode(vector.text) }
        counts["armor failure", default: 0] += 1
        continue
      }
      let file = try vector.file()
      let opening = Opening(file, with: try vector.keys(), piecesOf: 4_000)
      let result = try Testkit.result(of: opening, file)
      #expect(
        result == vector.expectation, "\(name): \(opening.error.map(String.init(describing:)) ?? "no error")")
      let digest = SHA256.hash(data: opening.contents).map { String(format: "%02x", $0) }.joined()
      #expect(vector.payload.map { $0 == digest } ?? opening.contents.isEmpty, "\(name): other contents")
      if let error = opening.error { print("\(name): \(error)") }
      try Self.checkHeader(of: vector, named: name)
      try Self.checkReader(of: vector, opening, named: name)
      counts[result, default: 0] += 1
    }
    for (result, count) in counts.sorted(by: { $0.key < $1.key }) { print("testkit: \(count) \(result)") }
    #expect(names.count >= 143)
  }

  /// A header is written as it was read.
  private static func checkHeader(of vector: Testkit.Vector, named name: String) throws {
    guard vector.expectation != "header failure" else { return }
    let file = try vector.file()
    guard let header = try SealedHeader.parse(file) else { return }
    #expect(header.bytes.elementsEqual(file.prefix(header.size)), "\(name): another header")
  }

  /// Random access gives the same contents, or an error.
  private static func checkReader(of vector: Testkit.Vector, _ opening: Opening, named name: String) throws {
    let file = try vector.file()
    let contents: [UInt8]
    do {
      let reader = try SealedReader(sealedSize: Int64(file.count), with: try vector.keys()) { offset, count in
        Array(file.dropFirst(Int(offset)).prefix(count))
      }
      contents = try reader.read(at: 0, count: Int(reader.size))
    } catch {
      #expect(opening.error != nil, "\(name): \(error)")
      return
    }
    #expect(opening == Opening(contents: contents), "\(name): other contents by random access")
  }
}

/// The format of the vectors.
enum Testkit {
  static var folder: String? { ProcessInfo.processInfo.environment["AGE_TESTKIT"] }

  struct Vector {
    var expectation = ""
    var payload: String?
    var isArmored = false
    /// The bytes of the vector.
    var text: [UInt8] = []
    private var identities: [String] = []
    private var passphrases: [String] = []

    init(contentsOf url: URL) throws {
      let data = try Data(contentsOf: url)
      let end = try #require(data.firstRange(of: Data("\n\n".utf8)))
      text = Array(data[end.upperBound...])
      for line in String(decoding: data[..<end.lowerBound], as: UTF8.self).split(separator: "\n") {
        let value = String(line.drop { $0 != ":" }.dropFirst(2))
        switch line.prefix(while: { $0 != ":" }) {
        case "expect": expectation = value
        case "payload": payload = value
        case "armored": isArmored = value == "yes"
        case "identity": identities.append(value)
        case "passphrase": passphrases.append(value)
        case "compressed":
          guard case .bytes(let bytes) = CompressedBody.inflate(text, limit: 64 << 20) else {
            throw CocoaError(.fileReadCorruptFile)
          }
          text = bytes
        default: break
        }
      }
    }

    /// The sealed file.
    func file() throws -> [UInt8] { isArmored ? try Armor.decode(text) : text }

    func keys() throws -> [any UnwrappingKey] {
      try identities.map { try SealingIdentity($0) as any UnwrappingKey }
        + passphrases.map { Passphrase($0, derive: scrypt) }
    }
  }

  /// The name that the vectors have for the result. They count the nonce of the payload as a part of the header.
  static func result(of opening: Opening, _ file: [UInt8]) throws -> String {
    switch opening.error {
    case nil: return "success"
    case .truncated:
      guard let header = try SealedHeader.parse(file) else { return "header failure" }
      return file.count < header.size + 16 ? "header failure" : "payload failure"
    case .headerDamaged: return "HMAC failure"
    case .wrongIdentity, .passphraseRequired, .wrongPassphrase, .noIdentity: return "no match"
    case .chunkDamaged, .lastChunkDamaged, .chunksReordered, .trailingBytes: return "payload failure"
    default: return "header failure"
    }
  }

  @Sendable static func scrypt(passphrase: [UInt8], salt: [UInt8], rounds: Int) throws -> [UInt8] {
    let key = try KDF.Scrypt.deriveKey(
      from: passphrase, salt: salt, outputByteCount: 32, rounds: rounds, blockSize: 8, parallelism: 1)
    return key.withUnsafeBytes { Array($0) }
  }
}

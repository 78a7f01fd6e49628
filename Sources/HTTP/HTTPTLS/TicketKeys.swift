import COpenSSL
import SystemIO

/// The keys with which session tickets are encrypted. They are renewed, so that a key that leaks reveals little, and
/// exist in memory only.
final class TicketKeys: Sendable {
  /// A key: a name by which a ticket refers to it, and two secrets.
  struct Key: Sendable {
    static let nameSize = 16
    let name: [UInt8]
    let encryption: [UInt8]
    let authentication: [UInt8]
    let made: UInt64

    init(at now: UInt64) {
      name = Self.random(Self.nameSize)
      encryption = Self.random(32)
      authentication = Self.random(32)
      made = now
    }

    private static func random(_ count: Int) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      let result = RAND_priv_bytes(&bytes, Int32(count))
      precondition(result == 1, "the system has no random numbers")
      return bytes
    }
  }

  /// How long a key encrypts new tickets, in seconds. Its tickets are accepted for as long again.
  static let period: UInt64 = 12 * 3600

  /// The newest key first.
  private let keys: Lock<[Key]>
  private let now: @Sendable () -> UInt64

  /// - Parameter now: the time in seconds on a monotonic clock.
  init(now: @escaping @Sendable () -> UInt64 = { SystemClock.monotonicNanoseconds / 1_000_000_000 }) {
    self.now = now
    keys = Lock([Key(at: now())])
  }

  /// The key for a new ticket.
  func current() -> Key {
    let now = now()
    return keys.withLock { keys in
      if now >= keys[0].made + Self.period {
        keys.insert(Key(at: now), at: 0)
        keys.removeAll { now >= $0.made + 2 * Self.period }
      }
      return keys[0]
    }
  }

  /// The key of a received ticket, and whether it is the newest one; `nil` if the ticket is too old.
  func key(named name: UnsafeBufferPointer<UInt8>) -> (key: Key, isCurrent: Bool)? {
    let current = current()
    if current.name.elementsEqual(name) { return (current, true) }
    let now = now()
    return keys.withLock { keys in
      keys.first { $0.name.elementsEqual(name) && now < $0.made + 2 * Self.period }.map { ($0, false) }
    }
  }
}

/// OpenSSL's callback that prepares the encryption or decryption of a ticket.
///
/// - Returns: a negative number for an error, 0 if the ticket's key is unknown, 1 for success, 2 if the ticket is to be
///   renewed.
func prepareTicket(
  _ ssl: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?, _ vector: UnsafeMutablePointer<UInt8>?,
  _ cipher: OpaquePointer?, _ mac: OpaquePointer?, _ encrypts: Int32
) -> Int32 {
  guard let ssl, let name, let vector, let keys = TLSContext.of(ssl)?.ticketKeys else { return -1 }
  let algorithm = EVP_aes_256_cbc()
  if encrypts == 1 {
    let key = keys.current()
    for (index, byte) in key.name.enumerated() { name[index] = byte }
    guard RAND_bytes(vector, EVP_CIPHER_get_iv_length(algorithm)) == 1,
      EVP_EncryptInit_ex(cipher, algorithm, nil, key.encryption, vector) == 1,
      snapshot_ssl_set_ticket_mac(mac, key.authentication, key.authentication.count) == 1
    else { return -1 }
    return 1
  }
  let asked = UnsafeBufferPointer(start: name, count: TicketKeys.Key.nameSize)
  guard let (key, isCurrent) = keys.key(named: asked) else { return 0 }
  guard snapshot_ssl_set_ticket_mac(mac, key.authentication, key.authentication.count) == 1,
    EVP_DecryptInit_ex(cipher, algorithm, nil, key.encryption, vector) == 1
  else { return -1 }
  return isCurrent ? 1 : 2
}

import SystemIO
import Testing

@testable import HTTPTLS

@Suite struct TicketKeysTests {
  @Test func `a key is renewed, and its tickets are accepted for one more period`() {
    let now = Lock<UInt64>(1000)
    let keys = TicketKeys { now.withLock { $0 } }
    func find(_ key: TicketKeys.Key) -> Bool? {
      key.name.withUnsafeBufferPointer { keys.key(named: $0)?.isCurrent }
    }
    let first = keys.current()
    #expect(find(first) == true)
    now.withLock { $0 += TicketKeys.period - 1 }
    #expect(keys.current().name == first.name)
    now.withLock { $0 += 1 }
    let second = keys.current()
    #expect(second.name != first.name)
    #expect(second.encryption != first.encryption)
    #expect(find(first) == false)
    #expect(find(second) == true)
    now.withLock { $0 += TicketKeys.period - 1 }
    #expect(find(first) == false)
    now.withLock { $0 += 1 }
    #expect(find(first) == nil)
    #expect(find(second) == false)
    // After a long silence, nothing of the past is accepted.
    now.withLock { $0 += 10 * TicketKeys.period }
    #expect(find(second) == nil)
  }

  @Test func `a ticket is refused two periods after its key was made, also between two renewals`() {
    let now = Lock<UInt64>(1000)
    let keys = TicketKeys { now.withLock { $0 } }
    func isKnown(_ key: TicketKeys.Key) -> Bool {
      key.name.withUnsafeBufferPointer { keys.key(named: $0) != nil }
    }
    let first = keys.current()
    // The next key is made late, so that it is still the newest one when the first one becomes invalid.
    now.withLock { $0 += TicketKeys.period + TicketKeys.period / 2 }
    let second = keys.current()
    now.withLock { $0 += TicketKeys.period / 2 - 1 }
    #expect(isKnown(first))
    now.withLock { $0 += 1 }
    #expect(keys.current().name == second.name)
    #expect(!isKnown(first))
    #expect(isKnown(second))
  }
}

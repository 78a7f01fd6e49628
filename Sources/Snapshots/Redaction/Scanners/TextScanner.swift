/// A search for secrets by their form. Each looks only at places where certain bytes are, so that all of them need one
/// pass over a text.
enum TextScanner: Int, Sendable, CaseIterable {
  case assignments, schemes, webTokens, userInformation, providerKeys, privateKeys
  case emailAddresses, cardNumbers, phoneNumbers, uuids

  /// The bytes at which it looks.
  private var marks: String.UTF8View {
    switch self {
    case .assignments: "=:".utf8
    case .schemes: "bB".utf8
    case .webTokens: "J".utf8
    case .userInformation: ":".utf8
    case .providerKeys: ProviderKeys.marks.utf8
    case .privateKeys, .uuids: "-".utf8
    case .emailAddresses: "@%".utf8
    case .cardNumbers: PersonalDataScanner.cardMarks.utf8
    case .phoneNumbers: "+".utf8
    }
  }

  /// Several scanners.
  struct Group: Sendable {
    /// For each byte the scanners that look at it: a bit for each, by its raw value.
    private var scanners = [UInt16](repeating: 0, count: 256)
    /// The bytes at which no scanner looks.
    private var others = ByteSet(0...255)
    private(set) var isEmpty = true

    mutating func insert(_ scanner: TextScanner) {
      isEmpty = false
      for byte in scanner.marks {
        scanners[Int(byte)] |= 1 << UInt16(scanner.rawValue)
        others.remove(byte)
      }
    }

    /// Returns what is found in `text`, in no particular order. `verdict` is that about the names of values.
    ///
    /// A scanner is called with the text, the index of a mark, and the ranges to add to. It returns the index from which it
    /// goes on.
    func scan(_ text: [UInt8], _ verdict: (ArraySlice<UInt8>) -> Judge.Verdict) -> [Range<Int>] {
      var found: [Range<Int>] = []
      var assignments = AssignmentScanner()
      // The place from which each scanner goes on.
      var next = [Int](repeating: 0, count: TextScanner.allCases.count)
      var index = 0
      while true {
        index = others.end(text, index..<text.count)
        guard index < text.count else { return found }
        var waiting = scanners[Int(text[index])]
        while waiting != 0 {
          let number = waiting.trailingZeroBitCount
          waiting &= waiting - 1
          guard index >= next[number], let scanner = TextScanner(rawValue: number) else { continue }
          next[number] =
            switch scanner {
            case .assignments: assignments.scan(text, index, verdict, &found)
            case .schemes: CredentialScanner.schemes(text, index, &found)
            case .webTokens: CredentialScanner.webTokens(text, index, &found)
            case .userInformation: CredentialScanner.userInformation(text, index, &found)
            case .providerKeys: ProviderKeys.scan(text, index, from: next[number], &found)
            case .privateKeys: PrivateKeyBlocks.scan(text, index, &found)
            case .emailAddresses: PersonalDataScanner.emailAddresses(text, index, &found)
            case .cardNumbers: PersonalDataScanner.cardNumbers(text, index, &found)
            case .phoneNumbers: PersonalDataScanner.phoneNumbers(text, index, &found)
            case .uuids: PersonalDataScanner.uuids(text, index, &found)
            }
        }
        index += 1
      }
    }
  }
}

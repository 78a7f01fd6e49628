import HTTPSemantics
import HTTPTypes
import TestSupport
import Testing

@testable import SnapshotClient

/// The decisions of a resumable upload, without a server.
@Suite struct PiecewiseUploadTests {
  private static let names: [HTTPField.Name] = [.uploadOffset, .uploadComplete, .uploadLength, .uploadLimit]

  private func answer(_ chance: inout SeededGenerator, size: Int64) -> HTTPResponse {
    let codes = [
      200, 201, 204, 204, 204, 302, 400, 401, 403, 404, 408, 409, 409, 410, 413, 415, 422, 429, 500, 501, 503,
      507, 511,
    ]
    var fields = HTTPFields()
    if Bool.random(using: &chance) {
      fields[.location] = "/v1/uploads/\(UInt8.random(in: 0...9, using: &chance))"
    }
    let offsets = [
      0, 1, size / 2, size - 1, size, size + 1, -1, .max, Int64.random(in: 0...size, using: &chance),
    ]
    for name in Self.names where Bool.random(using: &chance) {
      let number = "\(offsets.randomElement(using: &chance) ?? 0)"
      fields[name] =
        switch name {
        case .uploadComplete: ["?0", "?1", "1", ""].randomElement(using: &chance)
        case .uploadLimit: "max-append-size=\(number), min-append-size=\(number)"
        default: [number, number, number, "", "a", "1.5", "\(number), 1"].randomElement(using: &chance)
        }
    }
    return HTTPResponse(status: .init(code: codes.randomElement(using: &chance) ?? 200), headerFields: fields)
  }

  @Test func `with arbitrary responses, only the requested bytes are sent, and the upload ends`() {
    var endings: [PiecewiseUpload.Verdict: Int] = [:]
    for seed in 0..<3000 as Range<UInt64> {
      var chance = SeededGenerator(seed: seed)
      let size = Int64.random(in: 0...3_000_000, using: &chance)
      var policy = ResumptionPolicy()
      if Bool.random(using: &chance) { policy.maximumRequestBody = .random(in: 1...size + 1, using: &chance) }
      var upload = PiecewiseUpload(
        size: size, location: Bool.random(using: &chance) ? "/v1/uploads/0" : nil, policy: policy)
      var (steps, pauses) = (0, 0)
      var known: Int64?
      while true {
        let step = upload.next
        switch step {
        case .create: #expect(upload.location == nil)
        case .ask(let place): #expect(place == upload.location)
        case .append(let place, let range):
          #expect(place == upload.location)
          #expect(range.lowerBound == known && range.upperBound <= size)
          #expect(!range.isEmpty || range.upperBound == size)
          #expect(range.count <= policy.maximumRequestBody ?? 16 * 1024 * 1024)
        }
        steps += 1
        if Int.random(in: 0..<10, using: &chance) == 0 {
          upload.broke(step)
          pauses += 1
          known = nil
          if pauses > 100 { break }
          continue
        }
        let answer = answer(&chance, size: size)
        let isForeign = answer.status.kind != .successful && Bool.random(using: &chance)
        let verdict = upload.take(answer, isForeign: isForeign, to: step, after: 0.1) { $0 }
        known = upload.kept
        #expect((0...size).contains(upload.kept) && upload.kept <= upload.furthest)
        if verdict == .pause { pauses += 1 }
        guard verdict == .goOn || (verdict == .pause && pauses <= 100) else {
          endings[verdict, default: 0] += 1
          break
        }
      }
      #expect(steps < 3000, "seed \(seed)")
    }
    #expect(Set(endings.keys) == [.end, .refused, .notOffered, .blocked], "\(endings)")
  }

  @Test(
    arguments: [
      ([.uploadOffset: "10"], []), ([.uploadOffset: "10", .uploadLength: "100"], []),
      ([.uploadOffset: "10", .uploadLength: "99"], [.otherLength(99)]),
      ([.uploadOffset: "10", .uploadLength: "101"], [.otherLength(101)]),
      ([.uploadOffset: "101"], [.impossibleOffset(101)]), ([.uploadOffset: "100"], []),
      ([.uploadOffset: "99", .uploadComplete: "?1"], [.impossibleOffset(99)]),
      ([.uploadOffset: "100", .uploadComplete: "?1"], []),
    ] as [(HTTPFields, [UploadRestart])])
  func `an upload is resumed only if the server's state is consistent`(
    fields: HTTPFields, restarts: [UploadRestart]
  ) {
    var upload = PiecewiseUpload(size: 100, location: "/u", policy: ResumptionPolicy())
    let verdict = upload.take(
      HTTPResponse(status: .noContent, headerFields: fields), isForeign: false, to: .ask("/u"), after: 0
    ) { $0 }
    #expect(verdict == .goOn)
    #expect(upload.restarts == restarts)
    #expect(upload.location == (restarts.isEmpty ? "/u" : nil))
    if !restarts.isEmpty { #expect(upload.next == .create) }
  }

  @Test func `an upload whose offset never advances is given up`() {
    var upload = PiecewiseUpload(size: 100, location: "/u", policy: ResumptionPolicy())
    var (steps, verdict) = (0, PiecewiseUpload.Verdict.goOn)
    while verdict == .goOn, steps < 1000 {
      let step = upload.next
      let isAsked = if case .ask = step { true } else { false }
      verdict = upload.take(
        HTTPResponse(
          status: isAsked ? .noContent : .conflict,
          headerFields: [.uploadOffset: "\(steps % 50)"]), isForeign: false, to: step, after: 0
      ) { $0 }
      steps += 1
    }
    #expect(verdict == .notOffered)
    #expect(steps < 100)
  }

  @Test(
    arguments: [
      ("5", 5), ("0", 0), ("5;a=1", 5), (" 5 ", 5), ("-1", nil), ("5.0", nil), ("\"5\"", nil), ("5, 6", nil),
      ("1000000000000000", nil), ("999999999999999", 999_999_999_999_999), ("", nil), ("?1", nil),
    ] as [(String, Int64?)])
  func `an offset is an integer or missing`(sample: (text: String, value: Int64?)) {
    let fields = UploadFields([.uploadOffset: sample.text])
    #expect(fields.offset == sample.value)
    #expect(fields.areAny == (sample.value != nil))
  }

  @Test func `limits are parsed as a dictionary, ignoring unknown keys`() {
    let fields = UploadFields([
      .uploadLimit: "max-size=5, new=(1 2);x, max-append-size=10, min-append-size=3;y"
    ])
    #expect(fields.limits?.maximumAppendSize == 10)
    #expect(fields.limits?.minimumAppendSize == 3)
    #expect(!UploadFields([.uploadLimit: "max-size=,"]).areAny)
  }

  // MARK: Piece sizes

  private let mebibyte: Int64 = 1024 * 1024

  @Test func `pieces grow on a fast connection and shrink on a slow one, within bounds`() {
    var pieces = PieceSize(ResumptionPolicy())
    #expect(pieces.bytes == mebibyte)
    for _ in 0..<10 { pieces.arrived(pieces.bytes, after: 2.4) }
    #expect(pieces.bytes == 16 * mebibyte)
    pieces.arrived(pieces.bytes, after: 2.5)
    pieces.arrived(pieces.bytes, after: 10)
    #expect(pieces.bytes == 16 * mebibyte)
    pieces.arrived(pieces.bytes, after: 10.1)
    #expect(pieces.bytes == 8 * mebibyte)
    for _ in 0..<20 { pieces.broke() }
    #expect(pieces.bytes == 64 * 1024)
    // A short last piece does not indicate the speed of longer ones.
    pieces.arrived(10, after: 0.01)
    #expect(pieces.bytes == 64 * 1024)
  }

  @Test func `the limits of server and proxies bound the pieces`() {
    var policy = ResumptionPolicy()
    policy.maximumRequestBody = 1000
    var pieces = PieceSize(policy)
    #expect(pieces.bytes == 1000)
    pieces.keep(atLeast: 5000, atMost: nil)
    #expect(pieces.bytes == 1000)
    pieces.keep(atLeast: nil, atMost: 500)
    #expect(pieces.bytes == 500)
    pieces.keep(atLeast: nil, atMost: -1)
    pieces.keep(atLeast: nil, atMost: 0)
    #expect(pieces.bytes == 500)
    pieces = PieceSize(ResumptionPolicy())
    pieces.keep(atLeast: 3 * mebibyte, atMost: 4 * mebibyte)
    #expect(pieces.bytes == 3 * mebibyte)
    pieces.broke()
    #expect(pieces.bytes == 3 * mebibyte)
  }

  @Test func `a rejected piece is halved down to the minimum`() {
    var pieces = PieceSize(ResumptionPolicy())
    var halves = 0
    while pieces.refused(pieces.bytes) { halves += 1 }
    #expect(halves == 4)
    pieces.arrived(pieces.bytes, after: 0)
    #expect(pieces.bytes == 64 * 1024)
  }
}

import Foundation
import HTTPTypes
import S3Client
import TestSupport
import Testing

/// Signatures are compared with the examples in Amazon's documentation of S3, and with botocore.
@Suite struct RequestSignerTests {
  private static let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
  private static let authority = "examplebucket.s3.amazonaws.com"
  /// 24 May 2013, 00:00:00 GMT.
  private static let time = Date(timeIntervalSince1970: 1_369_353_600)

  private static func signer() throws -> RequestSigner {
    RequestSigner(
      credentials: try #require(S3Credentials(accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: secret)),
      region: "us-east-1")
  }

  @Test(arguments: [
    ("/test.txt", "range: bytes=0-9", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
    ("/?lifecycle", "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    ("/?prefix=J&max-keys=2", "", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ])
  func `the documented requests without a body have the documented signatures`(
    path: String, field: String, signature: String
  ) throws {
    var request = HTTPRequest(method: .get, scheme: "https", authority: Self.authority, path: path)
    if !field.isEmpty { request.headerFields[.range] = "bytes=0-9" }
    let signed = try Self.signer().signed(request, bodyDigest: RequestSigner.emptyBody, at: Self.time)
    let names = field.isEmpty ? "" : "range;"
    #expect(
      signed.headerFields[.authorization]
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        + "SignedHeaders=host;\(names)x-amz-content-sha256;x-amz-date,Signature=\(signature)")
    #expect(signed.path == path)
  }

  @Test func `the documented request with a body has the documented signature`() throws {
    var request = HTTPRequest(
      method: .put, scheme: "https", authority: Self.authority,
      path: "/" + S3Encoding.encodePath("test$file.text"))
    request.headerFields[.date] = "Fri, 24 May 2013 00:00:00 GMT"
    request.headerFields[try #require(HTTPField.Name("x-amz-storage-class"))] = "REDUCED_REDUNDANCY"
    let signed = try Self.signer().signed(
      request, bodyDigest: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072", at: Self.time)
    #expect(
      signed.headerFields[.authorization]?.hasSuffix(
        "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"
          + "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd") == true)
  }

  @Test func `the documented presigned URL has the documented signature`() throws {
    let request = HTTPRequest(method: .get, scheme: "https", authority: Self.authority, path: "/test.txt")
    #expect(
      try Self.signer().presigned(request, lifetime: 86_400, at: Self.time)
        == "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
        + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
        + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
  }

  @Test(.enabled("botocore isn't installed") { try await Botocore.isInstalled() })
  func `random requests have the signatures that botocore computes`() async throws {
    var random = SeededGenerator(seed: 20_130_524)
    let cases = (0..<10_000).map { _ in SigningCase(using: &random) }
    let signatures = try await Botocore.signatures(of: cases)
    #expect(signatures.count == cases.count)
    for (request, theirs) in zip(cases, signatures) {
      #expect(try request.signature() == theirs.signed, "\(request)")
      #expect(try request.presignedSignature() == theirs.presigned, "\(request)")
    }
  }
}

/// A request in the form in which it is passed to botocore.
struct SigningCase: Codable {
  var method: String
  var host: String
  /// Encoded.
  var path: String
  /// Encoded, with `=` after every name.
  var query: String
  var fields: [[String]]
  var digest: String
  var token: String?
  var seconds: Int

  init(using random: inout SeededGenerator) {
    func text(_ length: ClosedRange<Int>, _ random: inout SeededGenerator) -> String {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: length, using: &random) {
        let range: ClosedRange<UInt32> = Bool.random(using: &random) ? 0x20...0x7E : 1...0x2FF
        if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) { text.append(scalar) }
      }
      return String(text)
    }
    method = ["GET", "PUT", "POST", "DELETE", "HEAD"].randomElement(using: &random) ?? "GET"
    host = Bool.random(using: &random) ? "bucket.s3.example.com" : "127.0.0.1:9000"
    path = "/" + S3Encoding.encodePath(text(0...20, &random) + "/" + text(0...10, &random))
    let names = ["uploads", "prefix", "list-type", "a", "a", "A", text(1...5, &random)]
    query = names.shuffled(using: &random).prefix(Int.random(in: 0...5, using: &random)).map { name in
      "\(S3Encoding.encode(name))=\(Bool.random(using: &random) ? "" : S3Encoding.encode(text(0...6, &random)))"
    }.joined(separator: "&")
    fields = ["Range", "x-amz-meta-note", "Content-Type", "X-Amz-Meta-Note"].shuffled(using: &random)
      .prefix(Int.random(in: 0...3, using: &random)).map { name in
        [name, ["bytes=0-9", "two  words", "a \t b   c", "x,y"].randomElement(using: &random) ?? ""]
      }
    digest = S3Encoding.hexadecimal((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
    token = Bool.random(using: &random) ? "token/+==\(Int.random(in: 0...9, using: &random))" : nil
    seconds = Int.random(in: 0...4_000_000_000, using: &random)
  }

  private var request: HTTPRequest {
    var request = HTTPRequest(
      method: HTTPRequest.Method(method) ?? .get, scheme: "https", authority: host,
      path: path + (query.isEmpty ? "" : "?\(query)"))
    for field in fields {
      if let name = HTTPField.Name(field[0]) {
        request.headerFields.append(HTTPField(name: name, value: field[1]))
      }
    }
    return request
  }

  private var signer: RequestSigner {
    get throws {
      RequestSigner(
        credentials: try #require(
          S3Credentials(accessKey: "AKIDEXAMPLE", secretKey: "se/cret+", sessionToken: token)),
        region: "eu-central-1")
    }
  }

  private var date: Date { Date(timeIntervalSince1970: Double(seconds) + 0.75) }

  func signature() throws -> String? {
    let signed = try signer.signed(request, bodyDigest: digest, at: date)
    return signed.headerFields[.authorization].flatMap(Self.signature)
  }

  func presignedSignature() throws -> String? {
    // Of fields with one name, botocore presigns only the first.
    var seen: Set<Substring> = []
    let first = query.split(separator: "&").filter { seen.insert($0.prefix { $0 != "=" }).inserted }
    var request = request
    request.path = path + (first.isEmpty ? "" : "?\(first.joined(separator: "&"))")
    request.headerFields = [:]
    return Self.signature(in: try signer.presigned(request, lifetime: 60, at: date))
  }

  private static func signature(in text: String) -> String? {
    text.components(separatedBy: "Signature=").last
  }
}

/// Amazon's own implementation, in Python.
enum Botocore {
  struct Signatures: Codable {
    var signed: String
    var presigned: String
  }

  static func isInstalled() async throws -> Bool {
    guard Tool.find("python3") != nil else { return false }
    return try await Tool.run("python3", ["-c", "import botocore"]).status == 0
  }

  static func signatures(of cases: [SigningCase]) async throws -> [Signatures] {
    let outcome = try await Tool.run(
      "python3", ["-c", script], input: try JSONEncoder().encode(cases))
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try JSONDecoder().decode([Signatures].self, from: outcome.output)
  }

  private static let script = """
    import datetime, json, sys
    import botocore.auth as auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    class Clock(datetime.datetime):
        now_is = None
        @classmethod
        def utcnow(cls): return cls.now_is
        @classmethod
        def now(cls, tz=None): return cls.now_is

    def at(seconds):
        Clock.now_is = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
        if hasattr(auth, 'get_current_datetime'):
            auth.get_current_datetime = lambda remove_tzinfo=True: (
                Clock.now_is.replace(tzinfo=None) if remove_tzinfo else Clock.now_is)
        auth.datetime = type('module', (), {'datetime': Clock, 'timezone': datetime.timezone})

    def request(case, fields):
        url = 'https://' + case['host'] + case['path'] + ('?' + case['query'] if case['query'] else '')
        made = AWSRequest(method=case['method'], url=url)
        for name, value in fields: made.headers.add_header(name, value)
        return made

    class Signer(auth.S3SigV4Auth):
        def payload(self, request): return self.digest
        def _should_sha256_sign_payload(self, request): return True

    answers = []
    for case in json.load(sys.stdin):
        at(case['seconds'])
        keys = Credentials('AKIDEXAMPLE', 'se/cret+', case.get('token'))
        signer = Signer(keys, 's3', 'eu-central-1')
        signer.digest = case['digest']
        made = request(case, case['fields'])
        signer.add_auth(made)
        signed = made.headers['Authorization'].split('Signature=')[1]
        made = request(case, [])
        auth.S3SigV4QueryAuth(keys, 's3', 'eu-central-1', expires=60).add_auth(made)
        presigned = made.url.split('X-Amz-Signature=')[1]
        answers.append({'signed': signed, 'presigned': presigned})
    json.dump(answers, sys.stdout)
    """
}

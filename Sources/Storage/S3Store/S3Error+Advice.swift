import S3Client

extension S3Error {
  /// What an operator has to correct, in a sentence; `nil` if the error does not tell.
  func advice(at configuration: S3Configuration) -> String? {
    guard case .refused(let refusal) = self else { return nil }
    switch (refusal.code, refusal.status) {
    case ("NoSuchBucket", _):
      return """
        There is no bucket \(configuration.bucket) at \(configuration.endpoint): create it, or correct the address or \
        the setting server.shared.endpoint.
        """
    case ("RequestTimeTooSkewed", _):
      return """
        The clock of this machine and that of the object store at \(configuration.endpoint) differ: correct the one \
        that is wrong.
        """
    case (_, 401), (_, 403):
      return """
        The object store refuses access to \(configuration.place) with \
        \(refusal.code.isEmpty ? "\(refusal.status)" : refusal.code): correct the credentials (AWS_ACCESS_KEY_ID and \
        AWS_SECRET_ACCESS_KEY), or what they permit.
        """
    default: return nil
    }
  }
}

extension S3Configuration {
  /// The bucket and the prefix as a URL.
  var place: String { "s3://\(bucket)/\(prefix)" }
}

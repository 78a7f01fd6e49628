import DataSnapshots
import Foundation

/// The sum of the prices of the articles that the user has bought.
extension NewsReader {
  private struct Purchase: Decodable {
    let title: String
    /// The price as the server formats it for the user, such as `1.234,50`.
    let price: String
  }

  /// The total of all purchases.
  public func total() async throws -> Double {
    let purchases = try JSONDecoder().decode([Purchase].self, from: await data("purchases"))
    return purchases.reduce(0) { $0 + amount($1.price) }
  }

  private func amount(_ price: String) -> Double {
    guard mends.contains(.total) else { return Double(price.replacing(",", with: "")) ?? 0 }
    let plain = price.replacing(mode.locale.groupingSeparator ?? ",", with: "")
      .replacing(mode.locale.decimalSeparator ?? ".", with: ".")
    return Double(plain) ?? 0
  }
}

import Foundation

/// Draws curves as an SVG: both axes are logarithmic, and every curve begins at 1.
struct Chart {
  let curves: Curves

  private static let (width, height, left, top, right, bottom) = (960.0, 620.0, 60.0, 50.0, 330.0, 50.0)
  private static let colours = [
    "#1b6ca8", "#c0392b", "#218c54", "#8e44ad", "#b9770e", "#117a65", "#7b241c", "#34495e", "#d35400",
    "#5b2c6f",
  ]

  var svg: String {
    let drawn = Measure.allCases.filter { curves.growth($0) != nil }
    let top = max(10, drawn.compactMap { curves.growth($0) }.max() ?? 10, curves.logarithm)
    let decades = Int(top.logarithm / 10.0.logarithm + 1)
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="white"/>
      <text x="\(Int(Self.left))" y="24" font-size="15">Growth with the number of bundles, relative to \
      \(curves.sizes.min() ?? 0)</text>

      """
    for decade in 0...decades {
      let y = y(pow10(decade), decades)
      text += line(Self.left, y, Self.width - Self.right, y, "#ddd")
      text += label("×\(Int(pow10(decade)))", Self.left - 6, y + 4, "end")
    }
    for size in curves.sizes {
      let x = x(Double(size))
      text += line(x, Self.top, x, Self.height - Self.bottom, "#ddd")
      text += label("\(size)", x, Self.height - Self.bottom + 18, "middle")
    }
    text += path(
      curves.sizes.map { (Double($0), logarithm(at: $0)) }, decades, "#888", #" stroke-dasharray="5 4""#)
    text += legend("the logarithm", 0, "#888")
    for (index, measure) in drawn.enumerated() {
      let colour = Self.colours[index % Self.colours.count]
      let dashes =
        index < Self.colours.count ? "" : index < 2 * Self.colours.count ? " stroke-dasharray=\"2 2\"" : ""
      guard let first = curves.sizes.min(), let base = curves.value(measure, at: first) else { continue }
      let points = curves.sizes.compactMap { size in
        curves.value(measure, at: size).map { (Double(size), max($0 / base, 0.1)) }
      }
      text += path(points, decades, colour, dashes)
      let growth = curves.growth(measure).map { " ×\(Curves.text($0))" } ?? ""
      text += legend("\(measure.rawValue)\(growth)", index + 1, colour, dashes)
    }
    return text + "</svg>\n"
  }

  private func logarithm(at size: Int) -> Double {
    Double(size).logarithm / Double(curves.sizes.min() ?? 10).logarithm
  }

  private func x(_ size: Double) -> Double {
    let (first, last) = (
      Double(curves.sizes.min() ?? 1).logarithm, Double(curves.sizes.max() ?? 10).logarithm
    )
    return Self.left + (size.logarithm - first) / max(last - first, 1) * (Self.width - Self.left - Self.right)
  }

  private func y(_ ratio: Double, _ decades: Int) -> Double {
    // The axis begins at 0.1, for values that become smaller.
    let share = (ratio.logarithm / 10.0.logarithm + 1) / Double(decades + 1)
    return Self.height - Self.bottom - share * (Self.height - Self.top - Self.bottom)
  }

  private func pow10(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { value, _ in value * 10 } }

  private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String) -> String {
    "<line x1=\"\(tenth(x1))\" y1=\"\(tenth(y1))\" x2=\"\(tenth(x2))\" y2=\"\(tenth(y2))\" stroke=\"\(colour)\"/>\n"
  }

  private func label(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
    "<text x=\"\(tenth(x))\" y=\"\(tenth(y))\" text-anchor=\"\(anchor)\">\(text)</text>\n"
  }

  private func path(_ points: [(Double, Double)], _ decades: Int, _ colour: String, _ dashes: String)
    -> String
  {
    let places = points.map { "\(tenth(x($0.0))),\(tenth(y($0.1, decades)))" }.joined(separator: " ")
    return
      "<polyline fill=\"none\" stroke=\"\(colour)\" stroke-width=\"1.6\"\(dashes) points=\"\(places)\"/>\n"
  }

  private func legend(_ text: String, _ row: Int, _ colour: String, _ dashes: String = "") -> String {
    let (x, y) = (Self.width - Self.right + 16, Self.top + Double(row) * 20)
    return "<line x1=\"\(tenth(x))\" y1=\"\(tenth(y))\" x2=\"\(tenth(x + 24))\" y2=\"\(tenth(y))\" "
      + "stroke=\"\(colour)\" stroke-width=\"2\"\(dashes)/>\n" + label(text, x + 30, y + 4, "start")
  }

  private func tenth(_ value: Double) -> String { Curves.text((value * 10).rounded() / 10) }
}

extension Double {
  /// The natural logarithm.
  var logarithm: Double { Foundation.log(self) }
}

import CoreMetrics
import PrometheusMetrics
import Testing

@Suite struct PrometheusRegistryTests {
  private func text(of registry: PrometheusRegistry) -> String {
    registry.text().replacing(
      "# HELP metrics_series_refused Series that exceed the limit of their family, or differ from its kind.\n"
        + "# TYPE metrics_series_refused counter\nmetrics_series_refused 0\n", with: "")
  }

  @Test func `counters are told with their help, type and labels`() {
    let registry = PrometheusRegistry(describing: ["requests_total": .init("Requests.")])
    Counter(label: "requests_total", dimensions: [("route", "GET /"), ("code", "200")], factory: registry)
      .increment(by: 3)
    Counter(label: "requests_total", dimensions: [("code", "404"), ("route", "none")], factory: registry)
      .increment()
    Counter(label: "requests_total", dimensions: [("code", "404"), ("route", "none")], factory: registry)
      .increment()
    #expect(
      text(of: registry) == """
        # HELP requests_total Requests.
        # TYPE requests_total counter
        requests_total{code="200",route="GET /"} 3
        requests_total{code="404",route="none"} 2

        """)
  }

  @Test func `what could end a line or a value is escaped`() {
    let registry = PrometheusRegistry(describing: ["a": .init("one\\two\n\"three\"")])
    Gauge(label: "a", dimensions: [("l", "x\\y\n\"z\"\r")], factory: registry).record(1)
    #expect(
      text(of: registry)
        == "# HELP a one\\\\two\\n\"three\"\n# TYPE a gauge\na{l=\"x\\\\y\\n\\\"z\\\"\r\"} 1\n")
  }

  @Test(arguments: [
    ("a.b-c", "a_b_c"), ("9a", "_9a"), ("a:b", "a:b"), ("ä", "_"), ("", "_"), ("a b\n", "a_b_"),
  ]) func `names are made of what a name may hold`(label: String, name: String) {
    let registry = PrometheusRegistry()
    Counter(label: label, dimensions: [("a:b", "")], factory: registry).increment()
    #expect(text(of: registry) == "# TYPE \(name) counter\n\(name){a_b=\"\"} 1\n")
  }

  @Test func `a timer is a histogram in seconds whose buckets hold what is no larger`() {
    let registry = PrometheusRegistry(describing: ["t": .init("T.", buckets: [0.5, 1])])
    let timer = Timer(label: "t", dimensions: [("a", "b")], factory: registry)
    for milliseconds in [400, 500, 501, 1000, 3000] { timer.recordNanoseconds(milliseconds * 1_000_000) }
    #expect(
      text(of: registry) == """
        # HELP t T.
        # TYPE t histogram
        t_bucket{a="b",le="0.5"} 2
        t_bucket{a="b",le="1"} 4
        t_bucket{a="b",le="+Inf"} 5
        t_sum{a="b"} 5.401
        t_count{a="b"} 5

        """)
  }

  @Test func `gauges go up, down and beyond numbers`() {
    let registry = PrometheusRegistry()
    let meter = Meter(label: "m", factory: registry)
    for (value, told) in [(2.5, "2.5"), (-1, "-1"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN")]
    {
      meter.set(value)
      #expect(text(of: registry) == "# TYPE m gauge\nm \(told)\n")
    }
    meter.set(10)
    meter.increment(by: 2.0)
    meter.decrement(by: 5.0)
    #expect(text(of: registry).hasSuffix("m 7\n"))
  }

  @Test func `counters never go back, and count whole numbers exactly`() {
    let registry = PrometheusRegistry()
    let counter = Counter(label: "c", factory: registry)
    counter.increment(by: Int64(1 << 53))
    counter.increment()
    counter.increment(by: -5)
    #expect(text(of: registry).hasSuffix("c 9007199254740993\n"))
    counter.increment(by: Int64.max)
    #expect(text(of: registry).hasSuffix("c 9223372036854775807\n"))
    FloatingPointCounter(label: "f", factory: registry).increment(by: 0.25)
    #expect(text(of: registry).hasSuffix("f 0.25\n"))
  }

  @Test func `a family has so many series and no more`() {
    let registry = PrometheusRegistry(seriesPerFamily: 2)
    for value in ["a", "b", "c", "a"] {
      Counter(label: "c", dimensions: [("l", value)], factory: registry).increment()
    }
    Gauge(label: "c", factory: registry).record(1)
    #expect(registry.text().contains("c{l=\"a\"} 2\nc{l=\"b\"} 1\n# HELP"))
    #expect(registry.text().contains("metrics_series_refused 2\n"))
  }

  @Test func `what is destroyed is told no more`() {
    let registry = PrometheusRegistry()
    let timer = Timer(label: "t", factory: registry)
    timer.recordNanoseconds(1)
    timer.destroy()
    #expect(text(of: registry).isEmpty)
  }

  @Test func `many threads count together`() async {
    let registry = PrometheusRegistry()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1000 { Counter(label: "c", factory: registry).increment() }
        }
      }
    }
    #expect(text(of: registry) == "# TYPE c counter\nc 8000\n")
  }
}

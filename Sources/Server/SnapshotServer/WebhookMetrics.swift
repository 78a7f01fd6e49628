import CoreMetrics
import Observability
import SystemIO
import Webhooks

/// The gauges of webhooks. Those of webhooks that the settings no longer have are removed.
final class WebhookMetrics: Sendable {
  private struct Gauges: Sendable {
    let waiting: Meter
    let delivered: Meter
    let failed: Meter
    let dropped: Meter
    let disabled: Meter

    var all: [Meter] { [waiting, delivered, failed, dropped, disabled] }
  }

  private let metrics: ServerMetrics
  /// By the names of the webhooks.
  private let gauges = Lock<[String: Gauges]>([:])

  init(_ metrics: ServerMetrics) { self.metrics = metrics }

  /// Sets the gauges to the current values. If they can't be read, the gauges remain, and the log has the reason.
  func update(from webhooks: Webhooks) async {
    let states: [(endpoint: WebhookEndpoint, state: WebhookEndpointState)]
    do { states = try await webhooks.states() } catch { return }
    gauges.withLock { gauges in
      let names = Set(states.map(\.endpoint.name))
      for (name, removed) in gauges where !names.contains(name) {
        for gauge in removed.all { gauge.destroy() }
        gauges[name] = nil
      }
      for (endpoint, state) in states {
        let known = gauges[endpoint.name] ?? make(endpoint.name)
        gauges[endpoint.name] = known
        known.waiting.set(state.waiting)
        known.delivered.set(state.delivered)
        known.failed.set(state.failed)
        known.dropped.set(state.dropped)
        known.disabled.set(state.isDisabled ? 1 : 0)
      }
    }
  }

  private func make(_ name: String) -> Gauges {
    func deliveries(_ state: WebhookDeliverySummary.State) -> Meter {
      metrics.gauge(.webhookDeliveries, [("webhook", name), ("state", state.rawValue)])
    }
    return Gauges(
      waiting: deliveries(.waiting), delivered: deliveries(.delivered), failed: deliveries(.failed),
      dropped: deliveries(.dropped), disabled: metrics.gauge(.webhookDisabled, [("webhook", name)]))
  }
}

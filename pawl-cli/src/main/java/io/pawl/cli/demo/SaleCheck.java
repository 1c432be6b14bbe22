package io.pawl.cli.demo;

import io.pawl.cli.demo.DemoHistory.Event;
import io.pawl.cli.demo.DemoHistory.Kind;
import io.pawl.counter.Outcome;
import io.pawl.counter.Outcome.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Compares what the buyers of a sale were told with the counter's ledger. */
final class SaleCheck {

  private final List<Event> events;
  private final List<Outcome> ledger;
  private final long left;

  /**
   * @param events what the buyers were told
   * @param ledger the whole of it
   * @param left the counter's value
   */
  SaleCheck(List<Event> events, List<Outcome> ledger, long left) {
    this.events = events;
    this.ledger = ledger;
    this.left = left;
  }

  /** The buyers who were told so. */
  Set<Long> told(Kind kind) {
    Set<Long> buyers = new TreeSet<>();
    events.stream().filter(e -> e.kind() == kind).forEach(e -> buyers.add(e.token()));
    return buyers;
  }

  /** The lines by which a prize left the stock. */
  List<Outcome> sold() {
    return ledger.stream().filter(o -> o.status() == Status.APPLIED && o.change() < 0).toList();
  }

  /** What is wrong; empty if they agree. */
  List<String> failures(int buyers, int prizes) {
    List<String> failures = new ArrayList<>();
    Set<Long> owners = owners(failures);
    if (sold().size() != prizes) {
      failures.add("the ledger has sold " + sold().size() + " of " + prizes + " prizes");
    }
    long sum = ledger.stream().mapToLong(Outcome::change).sum();
    if (left != 0 || sum != 0) {
      failures.add("the counter is " + left + " and its ledger comes to " + sum + ", not 0");
    }
    Set<Long> happy = told(Kind.SOLD);
    Set<Long> sad = told(Kind.SOLD_OUT);
    for (long buyer = 0; buyer < buyers; buyer++) {
      if (happy.contains(buyer) && !owners.contains(buyer)) {
        failures.add("buyer " + buyer + " was told of a prize and has none");
      }
      if (sad.contains(buyer) && owners.contains(buyer)) {
        failures.add("buyer " + buyer + " was told that none is left and has one");
      }
      if (!happy.contains(buyer) && !sad.contains(buyer)) {
        failures.add("buyer " + buyer + " was told nothing");
      }
    }
    return failures;
  }

  private Set<Long> owners(List<String> failures) {
    Set<Long> owners = new TreeSet<>();
    for (Outcome sale : sold()) {
      if (!sale.id().startsWith(SaleWorker.BUYER)) {
        failures.add("the ledger sold to " + sale.id() + ", who is no buyer");
      } else if (!owners.add(Long.valueOf(sale.id().substring(SaleWorker.BUYER.length())))
          || sale.change() != -1) {
        failures.add(sale.id() + " has more than one prize");
      }
    }
    return owners;
  }
}

package io.pawl.examples.shop;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Ten prizes. An order gets the same answer however often it is sent, to whichever instance. */
@RestController
@RequestMapping("/sale")
class Sale {

  private static final int PRIZES = 10;

  private final Counter prizes;

  Sale(Pawl pawl) {
    prizes = pawl.counter("prizes");
    prizes.update(Update.set(PRIZES), OperationId.of("sale opens")); // by the first instance
  }

  record Answer(String order, boolean won) {}

  record State(long left) {}

  @PostMapping("/{order}")
  Answer buy(@PathVariable String order) {
    return new Answer(order, prizes.tryTake(1, OperationId.of(order)).isApplied());
  }

  @GetMapping
  State state() {
    return new State(prizes.get());
  }
}

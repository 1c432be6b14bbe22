package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Two clients at one lock in strict order, at random, held against a line of people. */
class StrictWalksTest {

  private static final int WALKS = 10_000;

  /** Whose clients are there at the same time, and renew what they hold. */
  private static final int WALKS_AT_ONCE = 500;

  private static final LockOptions STRICT = LockOptions.defaults().strictOrder();

  @Test
  void p6_someoneGetsIn_inTheOrderOfArrivalWhateverBecomesOfOthers() {
    for (int seed = 0; seed < WALKS; ) {
      try (SystemTime time = new SystemTime("walk")) {
        for (int i = 0; i < WALKS_AT_ONCE; i++, seed++) {
          Walk walk = new Walk(time, seed);
          walk.go(5 + seed % 40);
          assertThat(walk.wrong).as(() -> String.join("\n", walk.log)).isEmpty();
        }
      }
    }
  }

  /** Somebody in the line. */
  private static final class Person {

    private final int client;

    /** Of persons in the line, whoever has a smaller one is served first. */
    private long place;

    private CompletableFuture<Optional<Loan>> asked = new CompletableFuture<>();

    /** Those directly behind, who are served under the same hold. */
    private List<Person> followers = new ArrayList<>();

    private boolean downgraded;
    private boolean evicted;

    Person(int client, long place) {
      this.client = client;
      this.place = place;
    }

    Loan loan() {
      return asked.join().orElseThrow();
    }

    @Override
    public String toString() {
      return place + " of client " + client;
    }
  }

  private static final class Walk {

    private final List<String> log = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private final SystemTime time;
    private final Random random;
    private final MemoryStore store = new MemoryStore();
    private final List<Engine> engines = new ArrayList<>();
    private final List<Person> waiting = new ArrayList<>();
    private final List<Person> holding = new ArrayList<>();
    private Person last = new Person(0, 0);
    private long places;

    Walk(SystemTime time, long seed) {
      this.time = time;
      this.random = new Random(seed);
      for (int client = 0; client < 2; client++) {
        String id = "client" + client;
        engines.add(Engines.over(store, time, id));
        assertThat(lock(client, id).tryAcquire()).as("so that it asks for followers").isPresent();
      }
    }

    void go(int steps) {
      for (int i = 0; i < steps; i++) {
        step();
        serve();
      }
      for (int i = 0; i < 50 + 3 * steps; i++) {
        if (holding.isEmpty() || random.nextInt(6) == 0) {
          renew();
        } else {
          release();
        }
        serve();
      }
      if (!waiting.isEmpty() || !holding.isEmpty()) {
        wrong.add("left " + waiting + holding);
      }
    }

    private void step() {
      switch (random.nextInt(14)) {
        case 0, 1, 2, 3, 4 -> ask();
        case 5, 6, 7 -> release();
        case 8, 9 -> downgrade();
        case 10, 11 -> evict();
        case 12 -> renew();
        default -> cancel();
      }
    }

    private Requests lock(int client, String name) {
      return new Requests(engines.get(client), new QueueKey(name, STRICT, Mode.EXCLUSIVE));
    }

    private void ask() {
      Person person = new Person(random.nextInt(5) < 3 ? 0 : 1, ++places);
      log.add("asks " + person);
      waiting.add(person);
      person.asked =
          lock(person.client, "lock")
              .tryAcquireAsync(Duration.ofMinutes(10), Function.<Optional<Loan>>identity());
    }

    private void serve() {
      waiting.sort(Comparator.comparingLong(person -> person.place));
      List<Person> served = waiting.stream().filter(person -> person.asked.isDone()).toList();
      waiting.removeAll(served);
      served.forEach(this::served);
    }

    private void served(Person person) {
      log.add("granted " + person);
      waiting.stream()
          .filter(other -> other.place < person.place)
          .forEach(other -> wrong.add(other + " was overtaken by " + person));
      boolean passedOn = last.followers.remove(person);
      if (passedOn) {
        person.followers = last.followers;
      } else if (holding.stream().noneMatch(holder -> holder.followers.remove(person))) {
        waiting.stream()
            .filter(other -> other.place >= person.place)
            .takeWhile(other -> other.client == person.client)
            .forEach(person.followers::add);
      }
      holding.add(person);
    }

    private void release() {
      if (holding.isEmpty()) {
        return;
      }
      last = holding.remove(random.nextInt(holding.size()));
      log.add("releases " + last);
      if (last.loan().end()) {
        last.loan().giveBack(true, LockObserver.NONE);
      }
    }

    /** Those behind a hold that becomes a reader's ask anew, all at once. */
    private void downgrade() {
      holding.stream()
          .filter(person -> !person.downgraded && !person.evicted)
          .findFirst()
          .ifPresent(
              person -> {
                log.add("downgrades " + person + ", behind it " + person.followers);
                person.downgraded = true;
                long place = ++places;
                person.followers.forEach(follower -> follower.place = place);
                person.followers.clear();
                person.loan().downgrade(true).join();
              });
    }

    /** Of a hold with nobody behind it: its followers would ask anew when their client hears. */
    private void evict() {
      holding.stream()
          .filter(person -> !person.evicted && person.followers.isEmpty())
          .findFirst()
          .ifPresent(
              person -> {
                log.add("evicted " + person);
                person.evicted = true;
                store.evict("lock", person.loan().token()).toCompletableFuture().join();
              });
    }

    private void renew() {
      List<LiveClaim> claims = new ArrayList<>();
      engines.get(random.nextInt(2)).registry().forEachClaim(claims::add);
      for (LiveClaim live : claims) {
        long askedAt = time.nanos();
        Standing standing =
            store.renew(List.of(live.claim())).toCompletableFuture().join().get(live.claim().id());
        if (live.held() != null || standing instanceof Standing.Held) {
          live.renewed(askedAt, standing, null);
        }
      }
      holding.removeIf(person -> !person.loan().isHeld());
    }

    private void cancel() {
      if (!waiting.isEmpty()) {
        Person person = waiting.remove(random.nextInt(waiting.size()));
        log.add("cancels " + person);
        holding.forEach(holder -> holder.followers.remove(person));
        person.asked.cancel(false);
      }
    }
  }
}

package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.QuorumNode;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A store that opens and then cannot be a node, as a Redis Cluster cannot. */
class RefusedNodeTest {

  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();

  private QuorumNode refused() {
    opened.incrementAndGet();
    QuorumNode node = new MemoryNode(new MemoryStore(), "refused");
    return (QuorumNode)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {QuorumNode.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("joinQuorum")) {
                throw new IllegalArgumentException("refused: cannot be a node");
              }
              if (method.getName().equals("close")) {
                closed.incrementAndGet();
              }
              return method.invoke(node, arguments);
            });
  }

  private static QuorumStore store(Supplier<QuorumNode> third) {
    List<Supplier<QuorumNode>> openers =
        List.of(
            () -> new MemoryNode(new MemoryStore(), "one"),
            () -> new MemoryNode(new MemoryStore(), "two"),
            third);
    return QuorumStore.owning(List.of("one", "two", "refused"), openers, QuorumOptions.defaults());
  }

  @Test
  void isClosedBeforeTheQuorumIsRefused() {
    assertThatThrownBy(() -> store(this::refused))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot be a node");

    assertThat(closed).hasValue(1);
  }

  @Test
  void isClosedEachTimeItIsFoundInTheBackground() {
    AtomicInteger asked = new AtomicInteger();
    Supplier<QuorumNode> laterRefused =
        () -> {
          if (asked.incrementAndGet() == 1) {
            throw new StoreUnavailableException("refused: is away", null);
          }
          return refused();
        };
    try (QuorumStore store = store(laterRefused)) {
      await().until(() -> closed.get() >= 2);
    }
    assertThat(opened).hasValueBetween(closed.get(), closed.get() + 1);
  }
}

package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.QuorumNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class ClosingTest {

  @Test
  void p8_nothingIsLeftBehind_aNodeWhoseCloseFailsLeavesNoOtherOpen() {
    List<String> names = List.of("one", "two", "three");
    List<MemoryNode> nodes = new ArrayList<>();
    List<Supplier<QuorumNode>> openers = new ArrayList<>();
    for (String name : names) {
      MemoryNode node = new MemoryNode(new MemoryStore(), name);
      nodes.add(node);
      openers.add(() -> node);
    }
    QuorumStore store = QuorumStore.owning(names, openers, QuorumOptions.defaults());
    nodes.get(0).cannotBeClosed();

    assertThatThrownBy(store::close).isInstanceOf(OutOfMemoryError.class);

    assertThat(nodes).allMatch(MemoryNode::isClosed);
  }
}

package io.pawl.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Pawl;
import io.pawl.etcd.EtcdProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a store brings into an application. The poms of the stores keep others out. */
class ClassPathTest {

  private static final long THREE_MEGABYTES = 3_000_000;

  /** One class of each jar that {@code pawl-etcd/pom.xml} lets in. */
  private static final List<Class<?>> ETCD =
      List.of(
          Pawl.class,
          EtcdProvider.class,
          tools.jackson.core.JsonParser.class,
          org.slf4j.Logger.class,
          org.jspecify.annotations.NullMarked.class);

  @Test
  void anApplicationOnEtcdGetsAtMostThreeMegabytes() throws Exception {
    long bytes = 0;
    for (Class<?> type : ETCD) {
      bytes += size(Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()));
    }
    assertThat(bytes).isBetween(1_000_000L, THREE_MEGABYTES);
  }

  /** Of a jar, or of a folder of classes. */
  private static long size(Path place) throws IOException {
    try (Stream<Path> files = Files.walk(place)) {
      return files.filter(Files::isRegularFile).mapToLong(ClassPathTest::length).sum();
    }
  }

  private static long length(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

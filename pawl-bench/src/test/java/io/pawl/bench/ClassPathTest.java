package io.pawl.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import io.pawl.Pawl;
import io.pawl.zookeeper.ZooKeeperProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.curator.RetryPolicy;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** What clients bring into an application, where the bench has both of them. */
class ClassPathTest {

  /** One class of each jar beside ZooKeeper's client and what that needs. */
  private static final List<Class<?>> PAWL =
      List.of(Pawl.class, ZooKeeperProvider.class, NullMarked.class);

  private static final List<Class<?>> CURATOR =
      List.of(
          RetryPolicy.class, CuratorFramework.class, InterProcessMutex.class, ImmutableList.class);

  @Test
  void onZooKeeperPawlBringsNoMoreThanCurator() {
    assertThat(bytes(PAWL)).isPositive().isLessThanOrEqualTo(bytes(CURATOR));
  }

  private static long bytes(List<Class<?>> ofEachJar) {
    return ofEachJar.stream().mapToLong(ClassPathTest::size).sum();
  }

  /** Of a jar, or of a folder of classes. */
  private static long size(Class<?> type) {
    try {
      Path place = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
      try (Stream<Path> files = Files.walk(place)) {
        return files.filter(Files::isRegularFile).mapToLong(ClassPathTest::length).sum();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
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

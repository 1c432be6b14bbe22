package io.pawl.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Pawl's descriptors export, require, use and provide what a program on a module path needs. The
 * store on ZooKeeper has none.
 */
class ModulePathTest {

  private static final String DESCRIPTOR =
      """
      module app {
        requires io.pawl.composite;
        requires io.pawl.etcd;
        requires io.pawl.redis;
        requires io.pawl.servers;
        requires io.pawl.sql;
      }
      """;

  /** Names every package that users may see, and passes through every module. */
  private static final String PROGRAM =
      """
      package app;

      import io.pawl.Lease;
      import io.pawl.Pawl;
      import java.util.List;

      class App {
        static final List<Class<?>> SEEN =
            List.of(
                io.pawl.composite.GateStore.class,
                io.pawl.counter.OperationId.class,
                io.pawl.error.PawlException.class,
                io.pawl.etcd.EtcdFence.class,
                io.pawl.fence.Fence.class,
                io.pawl.memory.MemoryStore.class,
                io.pawl.options.LockOptions.class,
                io.pawl.redis.RedisStore.class,
                io.pawl.spi.Stores.class,
                io.pawl.spi.rule.GrantRule.class,
                io.pawl.sql.SqlStore.class);

        public static void main(String[] args) throws Exception {
          try (var server = io.pawl.servers.RedisServer.start()) {
            use("memory:", true);
            use("sqlite:" + args[0], true);
            use("gate:" + server.url() + "|sqlite:" + args[0], true);
          }
          try (var server = io.pawl.servers.EtcdServer.start()) {
            use("etcd://" + server.host() + ":" + server.port(), false);
          }
        }

        static void use(String url, boolean counts) throws Exception {
          try (Pawl pawl = Pawl.connect(url); Lease lease = pawl.lock("lock").acquire()) {
            lease.ensureValid();
            if (counts) {
              pawl.counter("counter").add(1);
            }
            System.out.println(url.replaceAll(":.*", " works"));
          }
        }
      }
      """;

  @Test
  void aModularProgramUsesEveryStoreThatHasADescriptor(@TempDir Path directory) throws Exception {
    String modules = modules();
    Path classes = directory.resolve("classes");
    Path descriptor = Files.writeString(directory.resolve("module-info.java"), DESCRIPTOR);
    Path program = Files.writeString(directory.resolve("App.java"), PROGRAM);
    assertThat(compile("-p", modules, "-d", classes.toString(), descriptor + "", program + ""))
        .isEmpty();

    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String path = modules + System.getProperty("path.separator") + classes;
    String file = directory.resolve("locks.db").toString();
    Process process =
        new ProcessBuilder(java, "-p", path, "-m", "app/app.App", file)
            .redirectErrorStream(true)
            .start();

    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .contains("memory works", "sqlite works", "gate works", "etcd works");
    assertThat(process.waitFor()).isZero();
  }

  /** Without ZooKeeper, two of whose jars share packages, which a module path refuses. */
  private static String modules() {
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Stream.of(all.split(File.pathSeparator))
        .filter(entry -> !entry.contains("zookeeper"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static String compile(String... arguments) throws IOException {
    ByteArrayOutputStream complaints = new ByteArrayOutputStream();
    ToolProvider.getSystemJavaCompiler().run(null, complaints, complaints, arguments);
    return complaints.toString(StandardCharsets.UTF_8);
  }
}

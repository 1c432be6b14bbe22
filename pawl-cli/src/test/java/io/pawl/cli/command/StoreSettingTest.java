package io.pawl.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreSettingTest {

  @TempDir Path directory;

  private StoreSetting find() {
    return StoreSetting.find(null, Map.of("XDG_CONFIG_HOME", directory.toString()));
  }

  private void assertRefused() {
    assertThatThrownBy(this::find)
        .isInstanceOfSatisfying(
            Failure.class, e -> assertThat(e.exit()).isEqualTo(Exit.CONFIGURATION))
        .hasMessageContaining(directory.resolve("pawl/pawl.properties").toString());
  }

  /** On a share that is not mounted; a host under the default store excludes no other. */
  @Test
  void aConfigurationThatIsThereAndCannotBeReadIsNotPassedOver() throws IOException {
    Path file = Files.createDirectory(directory.resolve("pawl")).resolve("pawl.properties");
    Files.createSymbolicLink(file, directory.resolve("share/pawl.properties"));

    assertRefused();
  }

  @Test
  void aConfigurationWhoseDirectoryCannotBeReadIsNotPassedOver() throws IOException {
    Files.createSymbolicLink(directory.resolve("pawl"), directory.resolve("share"));

    assertRefused();
  }

  @Test
  void whereNoConfigurationIsTheDefaultIsUsed() {
    assertThat(find().origin()).isEqualTo("the default");
  }

  @Test
  void whereNoConfigurationCanBeTheDefaultIsUsed() {
    assertThat(StoreSetting.find(null, Map.of("HOME", "/dev/null")).origin())
        .isEqualTo("the default");
  }
}

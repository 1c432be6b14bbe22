package io.pawl.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreSettingTest {

  @TempDir Path directory;

  private static StoreSetting find(Path configurations) {
    return StoreSetting.find(null, Map.of("XDG_CONFIG_HOME", configurations.toString()));
  }

  private static void assertRefused(Path configurations) {
    assertThatThrownBy(() -> find(configurations))
        .isInstanceOfSatisfying(
            Failure.class, e -> assertThat(e.exit()).isEqualTo(Exit.CONFIGURATION))
        .hasMessageContaining(configurations.resolve("pawl/pawl.properties").toString());
  }

  /** On a share that is not mounted; a host under the default store excludes no other. */
  @Test
  void aConfigurationThatIsThereAndCannotBeReadIsNotPassedOver() throws IOException {
    Path file = Files.createDirectory(directory.resolve("pawl")).resolve("pawl.properties");
    Files.createSymbolicLink(file, directory.resolve("share/pawl.properties"));

    assertRefused(directory);
  }

  @Test
  void aConfigurationWhoseDirectoryCannotBeReadIsNotPassedOver() throws IOException {
    Files.createSymbolicLink(directory.resolve("pawl"), directory.resolve("share"));

    assertRefused(directory);
  }

  /** A home that is a link to a share that is not mounted. */
  @Test
  void aConfigurationAnywhereBehindALinkThatLeadsNowhereIsNotPassedOver() throws IOException {
    Path home = directory.resolve("home");
    Files.createSymbolicLink(home, directory.resolve("share"));

    assertRefused(home.resolve(".config"));
  }

  /** As where rights are missing, which an administrator has. */
  @Test
  void aConfigurationOfWhichNobodyCanTellWhetherItIsThereIsNotPassedOver() throws IOException {
    Path home = directory.resolve("home");
    Files.createSymbolicLink(home, home);

    assertRefused(home.resolve(".config"));
  }

  /** Bytes that are no UTF-8 are read as U+FFFD. */
  @Test
  void aConfigurationWhoseDirectoryWasMisreadIsNotPassedOver() throws IOException {
    assertRefused(directory.resolve("caf\uFFFD/.config"));

    Path named = Files.createDirectory(directory.resolve("caf\uFFFD"));
    assertThat(find(named.resolve(".config")).origin()).isEqualTo("the default");
  }

  /** As one is for a moment that is written anew, and stays where the disk is full. */
  @ParameterizedTest
  @ValueSource(strings = {"", "# store = redis://locks", "store =\n"})
  void aConfigurationThatNamesNoStoreIsNotPassedOver(String text) throws IOException {
    Path file = Files.createDirectory(directory.resolve("pawl")).resolve("pawl.properties");
    Files.writeString(file, text);

    assertRefused(directory);
  }

  @Test
  void whereNoConfigurationIsTheDefaultIsUsed() {
    assertThat(find(directory).origin()).isEqualTo("the default");
  }

  @Test
  void whereNoConfigurationCanBeTheDefaultIsUsed() {
    assertThat(StoreSetting.find(null, Map.of("HOME", "/dev/null")).origin())
        .isEqualTo("the default");
  }
}

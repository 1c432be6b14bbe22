package io.pawl.cli.command;

import io.pawl.spi.LockStore;
import io.pawl.spi.SchemaSource;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which store, and who said so. The first that speaks wins: the {@code --store} option, {@code
 * PAWL_STORE}, {@code ./pawl.properties}, the user's configuration, the embedded store.
 *
 * @param origin where the URL was found, for messages
 */
public record StoreSetting(String url, String origin) {

  private static final String KEY = "store";
  private static final String FILE = "pawl.properties";

  public static StoreSetting find(@Nullable String option, Map<String, String> environment) {
    if (option != null) {
      return ofOption(option);
    }
    String variable = environment.getOrDefault("PAWL_STORE", "");
    if (!variable.isEmpty()) {
      return new StoreSetting(variable, "PAWL_STORE");
    }
    StoreSetting here = read(Path.of(FILE));
    if (here != null) {
      return here;
    }
    StoreSetting user = read(userConfiguration(environment).resolve("pawl").resolve(FILE));
    return user != null ? user : new StoreSetting(Stores.embeddedUrl(), "the default");
  }

  /** Other users can read the arguments of a process. */
  private static StoreSetting ofOption(String url) {
    StoreSetting setting = new StoreSetting(url, "--store");
    if (!setting.parsed().toString().equals(url)) {
      throw Failure.usage(
          "--store: a password on the command line shows in the list of processes;"
              + " put the URL into PAWL_STORE or pawl.properties");
    }
    return setting;
  }

  private static Path userConfiguration(Map<String, String> environment) {
    String xdg = environment.getOrDefault("XDG_CONFIG_HOME", "");
    return xdg.startsWith("/")
        ? Path.of(xdg)
        : Path.of(environment.getOrDefault("HOME", System.getProperty("user.home", ".")))
            .resolve(".config");
  }

  private static @Nullable StoreSetting read(Path file) {
    if (!isThere(file)) {
      return null;
    }
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new Failure(
          Exit.CONFIGURATION, file + ": cannot be read as a properties file: " + e.getClass());
    }
    TreeSet<String> unknown = new TreeSet<>(properties.stringPropertyNames());
    unknown.remove(KEY);
    if (!unknown.isEmpty()) {
      throw new Failure(
          Exit.CONFIGURATION, file + ": key '" + unknown.first() + "' is unknown; known: " + KEY);
    }
    String url = properties.getProperty(KEY, "").strip();
    if (url.isEmpty()) { // as of a file that is being written anew
      throw new Failure(
          Exit.CONFIGURATION, file + ": names no store; write 'store = URL' into it, or remove it");
    }
    return new StoreSetting(url, file.toString());
  }

  /**
   * Readable or not, and where that cannot be told: another store in its place would exclude nobody
   * who uses this one.
   */
  private static boolean isThere(Path file) {
    try {
      Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return true;
    } catch (NoSuchFileException e) {
      if (isAbove(file.toAbsolutePath(), StoreSetting::isMisread)) {
        throw new Failure(
            Exit.CONFIGURATION,
            file + ": cannot be looked for, since its directory" + Arguments.NO_UTF_8);
      }
      return isAbove(file, place -> Files.isSymbolicLink(place) && !Files.exists(place));
    } catch (IOException e) {
      return !isAbove(file, place -> Files.exists(place) && !Files.isDirectory(place));
    }
  }

  /** Its bytes were read as U+FFFD, and a directory of another name is looked for. */
  private static boolean isMisread(Path place) {
    Path name = place.getFileName();
    return name != null
        && Arguments.isMisread(name.toString())
        && !Files.exists(place, LinkOption.NOFOLLOW_LINKS);
  }

  private static boolean isAbove(Path file, Predicate<Path> what) {
    for (Path place = file.getParent(); place != null; place = place.getParent()) {
      if (what.test(place)) {
        return true;
      }
    }
    return false;
  }

  /** Opens the store; the caller closes it. */
  public LockStore open() {
    if (parsed().scheme().equals("memory")) {
      throw new Failure(
          Exit.CONFIGURATION,
          "store " + this + " ends with each command; use sqlite:/path/to/file");
    }
    try {
      ClientJars.useFor(parsed().scheme());
      return Stores.open(parsed());
    } catch (IllegalArgumentException e) {
      throw new Failure(Exit.CONFIGURATION, said(e));
    }
  }

  /** Asks the provider of a store that has tables. */
  public String withSchema(BiFunction<SchemaSource, StoreUrl, String> question) {
    try {
      ClientJars.useFor(parsed().scheme());
      if (Stores.provider(parsed()) instanceof SchemaSource source) {
        return question.apply(source, parsed());
      }
    } catch (IllegalArgumentException e) {
      throw new Failure(Exit.CONFIGURATION, said(e));
    }
    throw new Failure(Exit.CONFIGURATION, "store " + this + " has no tables");
  }

  private StoreUrl parsed() {
    if (Arguments.isMisread(url)) {
      throw new Failure(
          Exit.CONFIGURATION, "store URL" + Arguments.NO_UTF_8 + " (from " + origin + ")");
    }
    try {
      return StoreUrl.parse(url);
    } catch (IllegalArgumentException e) {
      throw new Failure(Exit.CONFIGURATION, said(e));
    }
  }

  private String said(IllegalArgumentException e) {
    return e.getMessage() + " (from " + origin + ")";
  }

  /** Without passwords. */
  @Override
  public String toString() {
    return parsed() + " (from " + origin + ")";
  }
}

package io.pawl.lab.rival;

import java.security.CodeSource;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which version of a library is on the class path. */
public final class Versions {

  private static final Pattern JAR = Pattern.compile("-(\\d[^/]*)\\.jar");

  private Versions() {}

  /** Returns {@code library} with the version in the name of the jar that {@code type} is in. */
  public static String of(String library, Class<?> type) {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    Matcher jar = JAR.matcher(source == null ? "" : source.getLocation().getPath());
    return jar.find() ? library + " " + jar.group(1) : library;
  }
}

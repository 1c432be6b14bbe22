package io.pawl.cli.run;

import java.util.Map;

/** What the launcher script sets for this JVM, and its children must not see. */
public final class LauncherEnvironment {

  /** The caller's {@code LC_ALL}: {@code +VALUE}, or empty for none. */
  private static final String CALLERS_LOCALE = "PAWL_CALLERS_LC_ALL";

  /** Frees SIGUSR2, which the JVM would keep for itself. */
  private static final String SUSPEND_SIGNAL = "_JAVA_SR_SIGNUM";

  private LauncherEnvironment() {}

  public static boolean freesUsr2(Map<String, String> variables) {
    return variables.containsKey(SUSPEND_SIGNAL);
  }

  static void undo(Map<String, String> variables) {
    variables.remove(SUSPEND_SIGNAL);
    String locale = variables.remove(CALLERS_LOCALE);
    if (locale == null) {
      return;
    }
    if (locale.startsWith("+")) {
      variables.put("LC_ALL", locale.substring(1));
    } else {
      variables.remove("LC_ALL");
    }
  }
}

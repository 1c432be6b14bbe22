package io.pawl.spi;

/**
 * The owner of a claim, for people: {@code list}, the console and error messages show it. Nothing
 * is ever decided by it.
 *
 * @param host the machine's name
 * @param pid the process id
 * @param thread the thread that asked
 * @param application the name of the program, may be empty
 * @param note free text, may be empty
 */
public record Holder(String host, long pid, String thread, String application, String note) {

  /** Fields longer than this are cut: 256 characters. Control characters become spaces. */
  public static final int MAX_LENGTH = 256;

  public Holder {
    host = cut(host);
    thread = cut(thread);
    application = cut(application);
    note = cut(note);
  }

  private static String cut(String text) {
    int length = Math.min(text.length(), MAX_LENGTH);
    if (length < text.length() && Character.isHighSurrogate(text.charAt(length - 1))) {
      length--;
    }
    for (int i = 0; i < length; i++) {
      if (Character.isISOControl(text.charAt(i))) {
        return withoutControls(text.substring(0, length));
      }
    }
    return text.substring(0, length);
  }

  private static String withoutControls(String text) {
    StringBuilder clean = new StringBuilder(text);
    for (int i = 0; i < clean.length(); i++) {
      if (Character.isISOControl(clean.charAt(i))) {
        clean.setCharAt(i, ' ');
      }
    }
    return clean.toString();
  }

  /** Returns the holder for messages: {@code app 'note' (host, pid 12, main)}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(application);
    if (!note.isEmpty()) {
      text.append(text.isEmpty() ? "'" : " '").append(note).append('\'');
    }
    text.append(text.isEmpty() ? "(" : " (").append(host).append(", pid ").append(pid);
    return text.append(", ").append(thread).append(')').toString();
  }
}

package io.pawl.bench;

/** By reflection, since the bench is compiled for Java 17, which has none. */
public final class VirtualThreads {

  private static final int FIRST_JAVA = 21;

  private VirtualThreads() {}

  /** Whether this JVM has them. */
  public static boolean exist() {
    return Runtime.version().feature() >= FIRST_JAVA;
  }

  /** A virtual thread that was not started yet. */
  public static Thread unstarted(String name, Runnable work) {
    try {
      Class<?> builder = Class.forName("java.lang.Thread$Builder");
      Object named =
          builder
              .getMethod("name", String.class)
              .invoke(Thread.class.getMethod("ofVirtual").invoke(null), name);
      return (Thread) builder.getMethod("unstarted", Runnable.class).invoke(named, work);
    } catch (ReflectiveOperationException e) {
      throw new BenchException("this JVM makes no virtual thread", e);
    }
  }
}

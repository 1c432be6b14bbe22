package io.pawl.cli;

/**
 * A configuration of {@code java.util.logging} without handlers. Netty logs there where SLF4J has
 * no logger; what Pawl has to say it says in a line of its own.
 */
public final class NoLogging {

  /** Called by the JDK when something is about to be logged. */
  public NoLogging() {}

  static void configure() {
    System.setProperty("java.util.logging.config.class", NoLogging.class.getName());
  }
}

package io.pawl.lab.stage;

/**
 * An algorithm or library, the schedule that breaks it or shows its cost, and Pawl under the same
 * schedule. A class of its own each; an object may be played several times.
 */
public interface Specimen {

  /** Returns what it is called in the table, such as {@code S4}. */
  String id();

  /** Returns the algorithm or the library with its version, in a few words. */
  String title();

  /** Returns the reports or sources that describe the defect, in a sentence. */
  String origin();

  /** Returns which server it runs on. */
  Service service();

  /** Plays the schedule with the algorithm itself. */
  Finding play(Stage stage) throws Exception;

  /** Plays the same schedule with Pawl. */
  Finding pawl(Stage stage) throws Exception;
}

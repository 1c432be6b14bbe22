package io.pawl.spi;

/** A {@link StoreProvider} whose stores live in tables that an administrator may want to create. */
public interface SchemaSource {

  /**
   * Returns the statements that create the tables, as text to be run as it is. They may be run any
   * number of times. No round trip.
   *
   * @throws IllegalArgumentException for a URL that is not of this provider
   */
  String schema(StoreUrl url);

  /**
   * Creates the missing tables, even if the URL forbids a store to create them. May be called any
   * number of times, by any number of processes at once. Blocks.
   *
   * @throws IllegalArgumentException for an invalid URL, naming the part
   * @throws io.pawl.error.StoreDeniedException when the account may not create tables
   * @throws io.pawl.error.StoreException when the database cannot be reached or used
   */
  void createSchema(StoreUrl url);
}

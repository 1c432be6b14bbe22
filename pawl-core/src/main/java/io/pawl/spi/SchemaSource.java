package io.pawl.spi;

/** A {@link StoreProvider} whose stores live in tables that an administrator may want to create. */
public interface SchemaSource {

  /**
   * The statements that create the tables, as text to be run as it is. They may be run any number
   * of times. No round trip.
   *
   * @throws IllegalArgumentException for a URL that is not of this provider
   */
  String schema(StoreUrl url);

  /**
   * Creates what is missing, also where the URL forbids a store to. Harmless any number of times,
   * by any number of processes at once. Blocks.
   *
   * @throws IllegalArgumentException for a URL that cannot be right, naming the part
   * @throws io.pawl.error.StoreDeniedException where the account may not create tables
   * @throws io.pawl.error.StoreException where the database cannot be reached or used
   */
  void createSchema(StoreUrl url);
}

package io.pawl.spring.boot;

/** When the application's store of locks is opened, unless something needs it earlier. */
public enum OpenStore {
  /** While the application starts, which fails where the store cannot be opened. */
  START,
  /** In the background, once the application is ready. */
  READY,
  /** Not before it is needed. */
  FIRST_USE
}

package io.pawl.lab.chaos.rival;

/** One client of another library, as a process of its users has it. Thread-safe. */
public interface RivalClient extends AutoCloseable {

  /** Returns the lock of that name, to be taken once. */
  RivalLock lock(String name);

  @Override
  void close();
}

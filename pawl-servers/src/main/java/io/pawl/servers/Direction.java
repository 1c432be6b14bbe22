package io.pawl.servers;

/** Which way bytes flow through a {@link FaultProxy}. */
public enum Direction {
  TO_SERVER,
  TO_CLIENT
}

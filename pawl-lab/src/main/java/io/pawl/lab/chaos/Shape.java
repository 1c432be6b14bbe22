package io.pawl.lab.chaos;

/** In which shape users use locks. */
enum Shape {
  ACQUIRE,
  TRY,
  INTERRUPTED,
  CHAIN,
  READER,
  WRITER,
  PERMITS,
  GROUP,
  JOB,
  ELECTION,
  CLOSING,
  CALLBACK
}

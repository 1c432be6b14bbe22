package io.pawl.lab.chaos;

import io.pawl.checker.Share;

/** A lock of the run. */
enum Subject {
  DEFAULT(Kind.LOCK),
  STRICT(Kind.LOCK),
  ASYNC(Kind.LOCK),
  READ_WRITE(Kind.LOCK),
  PERMITS(Kind.PERMITS),
  GROUP_ONE(Kind.LOCK),
  GROUP_TWO(Kind.LOCK),
  JOB(Kind.LOCK),
  CLOSING(Kind.LOCK),
  CALLBACK(Kind.LOCK),
  ELECTION(Kind.LOCK);

  /** What a name stands for. */
  enum Kind {
    LOCK,
    PERMITS
  }

  static final int CAPACITY = 3;

  final Kind kind;

  Subject(Kind kind) {
    this.kind = kind;
  }

  /** The lock's name. */
  String lock() {
    return "chaos-" + name().toLowerCase(java.util.Locale.ROOT);
  }

  Share permits(int some) {
    return Share.permits(some, CAPACITY);
  }
}

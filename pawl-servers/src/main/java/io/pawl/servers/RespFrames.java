package io.pawl.servers;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;

/**
 * Cuts a stream of RESP bytes, however they are chunked, into frames and passes on those that a
 * judge wants. It keeps only what comes before a frame can be judged, some dozens of bytes.
 */
final class RespFrames {
  private static final int LONGEST_HEADER = 32;
  private static final int LONGEST_WORD = 64;

  /** What becomes of a frame. */
  enum Verdict {
    PASS,
    DROP,
    /** This frame and all later bytes are dropped. */
    END
  }

  /** Asked once per frame. */
  interface Judge {
    /**
     * @param type the frame's first byte
     * @param word the first element of an array or a push, if that is a short bulk string, or ""
     */
    Verdict judge(char type, String word);
  }

  private final Judge judge;
  private final ByteArrayOutputStream unjudged = new ByteArrayOutputStream();
  private final StringBuilder header = new StringBuilder();
  private final StringBuilder word = new StringBuilder();
  private char type;
  private boolean judged;
  private Verdict verdict = Verdict.PASS;

  /** Values that the frame still lacks, 0 between frames; an array adds its elements. */
  private long valuesLeft;

  /** Headers of the frame read so far: its own, its first element's and so on. */
  private long headers;

  /** Bytes that the bulk string being read still lacks, its line end among them. */
  private long bulkLeft;

  /** Whether that bulk string is the frame's first word. */
  private boolean isWord;

  RespFrames(Judge judge) {
    this.judge = judge;
  }

  boolean hasEnded() {
    return verdict == Verdict.END;
  }

  /** Takes the first {@code n} bytes and returns those, of these and earlier ones, to pass on. */
  byte[] pass(byte[] bytes, int n) {
    ByteArrayOutputStream passed = new ByteArrayOutputStream(n);
    int at = 0;
    while (at < n && !hasEnded()) {
      int taken = bulkLeft > 0 ? (int) Math.min(bulkLeft, n - at) : 1;
      if (bulkLeft > 0) {
        bulkBytes(bytes, at, taken, passed);
      } else {
        headerByte(bytes, at, passed);
      }
      at += taken;
    }
    return passed.toByteArray();
  }

  private void bulkBytes(byte[] bytes, int from, int count, ByteArrayOutputStream passed) {
    emit(bytes, from, count, passed);
    if (isWord) {
      word.append(new String(bytes, from, count, US_ASCII));
    }
    bulkLeft -= count;
    if (bulkLeft == 0) {
      if (isWord) {
        decide(passed);
      }
      valuesLeft--;
    }
  }

  private void headerByte(byte[] bytes, int at, ByteArrayOutputStream passed) {
    char c = (char) (bytes[at] & 0xff);
    if (valuesLeft == 0) {
      begin(c, passed);
    }
    emit(bytes, at, 1, passed);
    if (c == '\n') {
      endHeader(header.toString().strip(), passed);
      header.setLength(0);
    } else if (header.length() < LONGEST_HEADER) {
      header.append(c);
    }
  }

  private void begin(char c, ByteArrayOutputStream passed) {
    type = c;
    valuesLeft = 1;
    headers = 0;
    word.setLength(0);
    judged = false;
    if (c != '*' && c != '>') {
      decide(passed);
    }
  }

  private void endHeader(String line, ByteArrayOutputStream passed) {
    headers++;
    char kind = line.isEmpty() ? ' ' : line.charAt(0);
    long size = size(line);
    boolean isBulk = "$=!".indexOf(kind) >= 0 && size >= 0;
    isWord = isBulk && !judged && headers == 2 && size <= LONGEST_WORD;
    long elements =
        switch (kind) {
          case '*', '>', '~' -> Math.max(size, 0);
          case '%' -> 2 * Math.max(size, 0);
          case '|' -> 2 * Math.max(size, 0) + 1; // attributes of the value after them
          default -> 0;
        };
    if (!judged && !isWord && (headers > 1 || elements == 0)) {
      decide(passed);
    }
    if (isBulk) {
      bulkLeft = size + 2;
    } else {
      valuesLeft += elements - 1;
    }
  }

  private void decide(ByteArrayOutputStream passed) {
    judged = true;
    verdict = judge.judge(type, word.toString().strip());
    if (verdict == Verdict.PASS) {
      passed.writeBytes(unjudged.toByteArray());
    }
    unjudged.reset();
  }

  private void emit(byte[] bytes, int from, int count, ByteArrayOutputStream passed) {
    if (!judged) {
      unjudged.write(bytes, from, count);
    } else if (verdict == Verdict.PASS) {
      passed.write(bytes, from, count);
    }
  }

  private static long size(String header) {
    try {
      return header.length() < 2 ? 0 : Long.parseLong(header, 1, header.length(), 10);
    } catch (NumberFormatException e) {
      return 0; // a line that is a value itself
    }
  }
}

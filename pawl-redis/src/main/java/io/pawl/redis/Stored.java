package io.pawl.redis;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What is stored of claims, as texts; and locks for people, as {@code show.lua} tells them. */
final class Stored {

  private static final String HOLDS = "h";
  private static final int LOCK_TEXTS = 2;
  private static final int CLAIM_TEXTS = 8;

  private Stored() {}

  /** The locks that {@code show.lua} answered, those that exist. */
  static List<LockView> read(List<String> names, List<Object> reply) {
    long now = (Long) reply.get(0);
    List<LockView> views = new ArrayList<>();
    int at = 1;
    for (String name : names) {
      int size = (int) (long) (Long) reply.get(at);
      List<String> texts =
          reply.subList(at + 1, at + 1 + size).stream().map(String.class::cast).toList();
      if (size > 0) {
        views.add(view(name, texts, now));
      }
      at += 1 + size;
    }
    return views;
  }

  private static LockView view(String name, List<String> texts, long now) {
    int capacity = Integer.parseInt(texts.get(1));
    List<ClaimView> holders = new ArrayList<>();
    List<ClaimView> waiters = new ArrayList<>();
    for (int i = LOCK_TEXTS; i < texts.size(); i += CLAIM_TEXTS) {
      List<String> claim = texts.subList(i, i + CLAIM_TEXTS);
      ClaimView view = claim(claim);
      if (view.until().toEpochMilli() > now) {
        (claim.get(0).equals(HOLDS) ? holders : waiters).add(view);
      }
    }
    return new LockView(
        name,
        capacity < 0 ? null : new Kind(capacity),
        Long.parseLong(texts.get(0)),
        holders,
        waiters);
  }

  private static ClaimView claim(List<String> texts) {
    return new ClaimView(
        ClaimId.parse(texts.get(1)),
        mode(texts.get(2)),
        Long.parseLong(texts.get(3)),
        Long.parseLong(texts.get(4)),
        Instant.ofEpochMilli(Long.parseLong(texts.get(5))),
        Instant.ofEpochMilli(Long.parseLong(texts.get(6))),
        holder(texts.get(7)));
  }

  /** A claim as {@code attempt.lua} wants it. */
  static List<String> asked(Claim claim, long tokenFloor) {
    return List.of(
        claim.id().toString(),
        text(claim.mode()),
        Long.toString(claim.leaseMillis()),
        claim.queues() ? "1" : "0",
        Integer.toString(claim.tokens()),
        Long.toString(tokenFloor),
        text(claim.holder()),
        Long.toString(claim.minHoldMillis()));
  }

  private static String text(Mode mode) {
    if (mode instanceof Mode.Exclusive) {
      return "x";
    }
    return mode instanceof Mode.Shared ? "s" : mode.toString();
  }

  private static Mode mode(String text) {
    return switch (text) {
      case "x" -> Mode.EXCLUSIVE;
      case "s" -> Mode.SHARED;
      default -> Mode.parse(text);
    };
  }

  /** Its fields have no control characters. */
  private static String text(Holder holder) {
    return holder.host()
        + '\t'
        + holder.pid()
        + '\t'
        + holder.thread()
        + '\t'
        + holder.application()
        + '\t'
        + holder.note();
  }

  private static Holder holder(String text) {
    String[] parts = text.split("\t", -1);
    return parts.length == 5
        ? new Holder(parts[0], Long.parseLong(parts[1]), parts[2], parts[3], parts[4])
        : new Holder("?", 0, "?", "", text);
  }
}

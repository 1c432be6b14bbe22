package io.pawl.cli.command;

import io.pawl.spi.DurationText;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Locks and claims, for people and for programs. */
public final class LockText {

  private LockText() {}

  public static String who(Holder holder) {
    String name = holder.note().isEmpty() ? holder.application() : holder.note();
    String place = holder.host() + ", pid " + holder.pid();
    return name.isEmpty() ? place : name + " (" + place + ")";
  }

  public static String describe(ClaimView claim) {
    return who(claim.holder()) + ", token " + claim.token() + ", for " + since(claim) + ",";
  }

  public static String since(ClaimView claim) {
    return DurationText.format(Duration.between(claim.since(), Instant.now()));
  }

  public static String left(ClaimView claim) {
    return DurationText.format(Duration.between(Instant.now(), claim.until()));
  }

  public static String state(LockView lock) {
    return lock.holders().isEmpty() ? "free" : "held";
  }

  public static String kind(LockView lock) {
    Kind kind = lock.kind();
    return kind == null ? "none yet" : kind.toString();
  }

  public static Json json(LockView lock) {
    Json json = new Json().put("lock", lock.name());
    Kind kind = lock.kind();
    if (kind != null) {
      json.put("kind", kind.isSemaphore() ? "semaphore" : "lock");
    }
    if (kind != null && kind.isSemaphore()) {
      json.put("capacity", kind.capacity());
    }
    return json.put("state", state(lock))
        .put("lastToken", lock.lastToken())
        .put("holders", claims(lock.holders()))
        .put("waiters", claims(lock.waiters()));
  }

  public static List<Json> claims(List<ClaimView> claims) {
    List<Json> all = new ArrayList<>();
    for (ClaimView claim : claims) {
      Json json = new Json().put("mode", claim.mode().toString());
      if (claim.token() > 0) {
        json.put("token", claim.token());
      }
      Holder holder = claim.holder();
      all.add(
          json.put("host", holder.host())
              .put("pid", holder.pid())
              .put("application", holder.application())
              .put("holder", holder.note())
              .put("since", claim.since().toString())
              .put("until", claim.until().toString()));
    }
    return all;
  }
}

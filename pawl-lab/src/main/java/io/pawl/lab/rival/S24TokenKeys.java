package io.pawl.lab.rival;

import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.LabException;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.util.List;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;

/** Each name leaves a key behind, for ever. */
public final class S24TokenKeys implements Specimen {

  private static final int NAMES = 50;
  private static final int MOST_MINUTES = 21;

  @Override
  public String id() {
    return "S24";
  }

  @Override
  public String title() {
    return RedissonClients.TITLE + ": fenced lock, a name for each job";
  }

  @Override
  public String origin() {
    return "redisson #6510.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) {
    RedissonClient client = RedissonClients.on(stage);
    for (int i = 0; i < NAMES; i++) {
      RFencedLock lock = client.getFencedLock(stage.name() + "-" + i);
      lock.lockAndGetToken();
      lock.unlock();
    }
    stage.trace().step("A", "lockAndGetToken() and unlock() of 50 names");
    return counted(stage);
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Pawl pawl = stage.pawl(service());
    for (int i = 0; i < NAMES; i++) {
      pawl.lock(stage.name() + "-" + i).acquire().close();
    }
    stage.trace().step("A", "acquire and close of 50 names");
    return counted(stage);
  }

  private static Finding counted(Stage stage) {
    Trace trace = stage.trace();
    var server = stage.redis();
    List<String> keys = server.keys("*" + stage.name() + "-*");
    if (keys.size() < NAMES) {
      throw new LabException("of " + NAMES + " names there are keys of " + keys.size());
    }
    long lasting = keys.stream().filter(key -> server.pttl(key) == -1).count();
    long longest = keys.stream().mapToLong(server::pttl).max().orElse(0) / 60_000;
    trace.step("server", keys.size() + " keys, " + lasting + " of them without an expiry");
    return lasting == 0 && longest < MOST_MINUTES
        ? Finding.stands(
            "no key stays: the last tokens expire within " + (longest + 1) + " minutes",
            "KEYS, PTTL")
        : new Finding(
            Verdict.LEFT_BEHIND, lasting + " keys stay for ever for 50 names", "KEYS, PTTL → -1");
  }
}

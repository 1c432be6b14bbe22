package io.pawl.servers;

import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.RespFrames.Verdict;
import java.util.Arrays;
import java.util.Locale;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * RESP2 and RESP3: knows replies from pushes, and to which command a reply answers. What a replica
 * is sent is no RESP, and passes as it is.
 */
final class RespConversation implements Conversation {
  private static final int MOST_PENDING = 1 << 17;

  /** The kinds of push that carry a message; others confirm a subscription. */
  private static final Set<String> MESSAGES = Set.of("message", "pmessage", "smessage");

  private static final Set<String> CONFIRMATIONS =
      Set.of(
          "subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe");

  /** By which servers look after each other. */
  private static final Set<String> UPKEEP =
      Set.of("PING", "INFO", "PUBLISH", "CLIENT", "AUTH", "REPLCONF", "PSYNC");

  private static final String OF_A_REPLICA = "REPLCONF";

  private final Faults faults;
  private final RespFrames requests = new RespFrames(this::judgeRequest);
  private final RespFrames replies = new RespFrames(this::judgeReply);

  /** Commands that have no reply yet; the requesting thread adds, the answering one takes. */
  private final Queue<String> pending = new LinkedBlockingQueue<>(MOST_PENDING);

  private volatile boolean hasSubscribed;
  private volatile boolean isOfReplica;
  private boolean isOfUser;
  private @Nullable AfterDrop afterDrop;

  RespConversation(Faults faults) {
    this.faults = faults;
  }

  @Override
  public boolean request(byte[] bytes, int n) {
    isOfUser = false;
    if (!isOfReplica) {
      requests.pass(bytes, n);
    }
    return isOfUser;
  }

  @Override
  public Answer answer(byte[] bytes, int n) {
    return isOfReplica
        ? new Answer(Arrays.copyOf(bytes, n), null)
        : new Answer(replies.pass(bytes, n), afterDrop);
  }

  private Verdict judgeRequest(char type, String word) {
    String command = word.toUpperCase(Locale.ROOT);
    isOfReplica |= command.equals(OF_A_REPLICA);
    isOfUser |= !UPKEEP.contains(command);
    if (CONFIRMATIONS.contains(command.toLowerCase(Locale.ROOT))) {
      hasSubscribed = true; // answered by confirmations, not by a reply
    } else {
      pending.add(command);
    }
    return Verdict.PASS;
  }

  private Verdict judgeReply(char type, String word) {
    // In RESP2 a push is an array like any other, but only a subscriber gets one.
    boolean mayBePush = type == '>' || (type == '*' && hasSubscribed);
    if (mayBePush && MESSAGES.contains(word)) {
      return faults.takesPush() ? Verdict.DROP : Verdict.PASS;
    }
    if (type == '>' || (mayBePush && CONFIRMATIONS.contains(word))) {
      return Verdict.PASS;
    }
    String command = pending.poll();
    afterDrop = faults.takesReply(name -> name.equals(command));
    return afterDrop == null ? Verdict.PASS : Verdict.END;
  }
}

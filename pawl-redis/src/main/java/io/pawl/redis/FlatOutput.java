package io.pawl.redis;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The numbers and texts of a reply in their order, however they are nested. Trusts no announced
 * size, so that garbage costs no memory that it did not send.
 */
final class FlatOutput extends CommandOutput<String, String, List<Object>> {

  private volatile int redirects;

  FlatOutput() {
    super(StringCodec.UTF8, new ArrayList<>(4));
  }

  /** How many nodes of a Cluster have answered only that another one is to be asked. */
  int redirects() {
    return redirects;
  }

  /** Lettuce asks one node after the other, so that these come one after the other too. */
  @Override
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void setError(ByteBuffer error) {
    super.setError(error);
    if (isRedirect()) {
      redirects++;
    }
  }

  /** Whether the latest answer was one of these. */
  boolean isRedirect() {
    String text = getError();
    return text != null && (text.startsWith("MOVED ") || text.startsWith("ASK "));
  }

  @Override
  public void set(long integer) {
    output.add(integer);
  }

  @Override
  public void set(ByteBuffer bytes) {
    output.add(bytes == null ? "" : decodeString(bytes));
  }

  @Override
  public void setSingle(ByteBuffer bytes) {
    set(bytes);
  }

  @Override
  public void set(boolean value) {
    output.add(value ? 1L : 0L);
  }

  @Override
  public void set(double number) {
    output.add(Double.toString(number));
  }

  @Override
  public void multi(int count) {}

  @Override
  public void multiArray(int count) {}

  @Override
  public void multiMap(int count) {}

  @Override
  public void multiSet(int count) {}

  @Override
  public void multiPush(int count) {}
}

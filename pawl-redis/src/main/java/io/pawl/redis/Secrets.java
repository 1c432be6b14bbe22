package io.pawl.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.protocol.CommandEncoder;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Keeps passwords out of Lettuce, which at TRACE logs each byte that it sends: Lettuce is given a
 * random seal, and the seal is broken behind its back, between its encoder and the network.
 */
final class Secrets implements NettyCustomizer {

  /** Connections authenticate with their first commands; later ones are left alone. */
  private static final int WRITES_LOOKED_AT = 8;

  private final Map<String, String> passwords = new LinkedHashMap<>();

  /** What to use for {@code password}; before the first connection only. */
  String seal(String password) {
    String seal = "sealed" + Addresses.next();
    passwords.put(seal, password);
    return seal;
  }

  @Override
  public void afterChannelInitialized(Channel channel) {
    ChannelPipeline pipeline = channel.pipeline();
    if (!passwords.isEmpty() && pipeline.context(CommandEncoder.class) != null) {
      pipeline.addBefore(
          pipeline.context(CommandEncoder.class).name(), "pawl-secrets", new Unsealing());
    }
  }

  private static byte[] bulk(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    byte[] head = ("$" + bytes.length + "\r\n").getBytes(US_ASCII);
    byte[] bulk = new byte[head.length + bytes.length];
    System.arraycopy(head, 0, bulk, 0, head.length);
    System.arraycopy(bytes, 0, bulk, head.length, bytes.length);
    return bulk;
  }

  private final class Unsealing extends ChannelOutboundHandlerAdapter {
    private int writes;

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      Object unsealed = message;
      if (message instanceof ByteBuf bytes) {
        for (Map.Entry<String, String> each : passwords.entrySet()) {
          unsealed = replaced((ByteBuf) unsealed, bulk(each.getKey()), each.getValue());
        }
        if (++writes >= WRITES_LOOKED_AT) {
          context.pipeline().remove(this);
        }
      }
      context.write(unsealed, promise);
    }

    private ByteBuf replaced(ByteBuf bytes, byte[] seal, String password) {
      int at = ByteBufUtil.indexOf(Unpooled.wrappedBuffer(seal), bytes);
      if (at < 0) {
        return bytes;
      }
      ByteBuf replaced = bytes.alloc().buffer();
      replaced.writeBytes(bytes, bytes.readerIndex(), at - bytes.readerIndex());
      replaced.writeBytes(bulk(password));
      int after = at + seal.length;
      replaced.writeBytes(bytes, after, bytes.writerIndex() - after);
      bytes.release();
      return replaced;
    }
  }
}

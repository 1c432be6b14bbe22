package io.pawl.concurrent;

import static org.awaitility.Awaitility.await;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

class KeptInterruptsTest {

  /** As a server's threads do when an application is taken out of it. */
  @Test
  void p8_nothingLeftBehind_aThreadThatLivesOnKeepsNoClassLoader() throws Exception {
    WeakReference<ClassLoader> loader = new WeakReference<>(whichWasUsedHere());

    await()
        .until(
            () -> {
              System.gc();
              return loader.refersTo(null);
            });
  }

  private static ClassLoader whichWasUsedHere() throws Exception {
    URL classes = KeptInterrupts.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
      Class<?> own = loader.loadClass(KeptInterrupts.class.getName());
      ((AutoCloseable) own.getConstructor().newInstance()).close();
      return loader;
    }
  }
}

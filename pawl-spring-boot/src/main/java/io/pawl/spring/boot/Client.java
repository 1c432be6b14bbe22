package io.pawl.spring.boot;

import io.pawl.Pawl;
import io.pawl.error.StoreException;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.ObjectProvider;

/** The application's client, which is made when somebody first needs it. */
final class Client {

  private Client() {}

  /**
   * @throws StoreException where its store cannot be opened; the next call tries again
   */
  static Pawl of(ObjectProvider<Pawl> provider) {
    try {
      return provider.getObject();
    } catch (BeanCreationException e) {
      for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
        if (cause instanceof StoreException failure) {
          throw failure;
        }
      }
      throw e;
    }
  }
}

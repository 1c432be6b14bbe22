package io.pawl.spring.boot;

import io.pawl.Pawl;
import io.pawl.concurrent.DaemonThreads;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanCreationNotAllowedException;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;

/**
 * Opens the store when {@link OpenStore} says so. The application's start fails at once where no
 * store is named, whenever it would be opened. A lazy application does not make this bean, and so
 * opens its store at the first use.
 */
final class PawlOpening
    implements SmartInitializingSingleton, ApplicationListener<ApplicationReadyEvent> {

  private static final Logger log = LoggerFactory.getLogger(PawlOpening.class);

  private final OpenStore when;
  private final StoreFinder finder;
  private final ConfigurableListableBeanFactory beans;
  private final AtomicBoolean pending = new AtomicBoolean();

  PawlOpening(OpenStore when, StoreFinder finder, ConfigurableListableBeanFactory beans) {
    this.when = when;
    this.finder = finder;
    this.beans = beans;
  }

  @Override
  public void afterSingletonsInstantiated() {
    if (beans.containsLocalBean(PawlAutoConfiguration.STORE)) {
      finder.find();
    }
    if (when == OpenStore.START) {
      open();
    }
    pending.set(when == OpenStore.READY);
  }

  private void open() {
    beans.getBeansOfType(Pawl.class);
  }

  @Override
  public void onApplicationEvent(ApplicationReadyEvent event) {
    if (pending.getAndSet(false)) {
      Thread opening = DaemonThreads.named("pawl-open", this::openLater);
      opening.setContextClassLoader(beans.getBeanClassLoader());
      opening.start();
    }
  }

  private void openLater() {
    try {
      open();
    } catch (BeanCreationNotAllowedException e) {
      log.debug("the application has ended before its store was opened", e);
    } catch (RuntimeException | Error e) {
      log.error("the store of the locks cannot be opened; each use of a lock tries again", e);
    }
  }
}

package io.pawl.spring.boot;

import io.pawl.Pawl;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Hears of the application's client when it has been made. */
@FunctionalInterface
interface ClientMade extends BeanPostProcessor {

  void made(Pawl pawl);

  @Override
  default Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof Pawl pawl) {
      made(pawl);
    }
    return bean;
  }
}

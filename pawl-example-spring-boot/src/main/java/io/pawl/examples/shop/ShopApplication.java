package io.pawl.examples.shop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Starts the shop. */
@SpringBootApplication
@EnableScheduling
public class ShopApplication {

  /** Takes Spring Boot's arguments, such as {@code --server.port=8081}. */
  public static void main(String[] arguments) {
    SpringApplication.run(ShopApplication.class, arguments);
  }
}

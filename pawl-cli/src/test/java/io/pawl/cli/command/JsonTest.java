package io.pawl.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class JsonTest {

  @Test
  void whateverANameHoldsStaysOneLineOfJson() {
    Json json = new Json().put("a\"b", "\\ \n é \u007f").put("n", 1L).put("l", List.of(new Json()));
    assertThat(json).hasToString("{\"a\\\"b\":\"\\\\ \\u000a é \\u007f\",\"n\":1,\"l\":[{}]}");
  }
}

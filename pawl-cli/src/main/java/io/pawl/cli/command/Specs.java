package io.pawl.cli.command;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The pieces that commands are described with. */
public final class Specs {

  private Specs() {}

  public static CommandSpec command(String name, String summary) {
    CommandSpec spec = CommandSpec.create().name(name);
    spec.usageMessage().header(summary);
    return spec.addOption(
        OptionSpec.builder("-h", "--help")
            .usageHelp(true)
            .description("Show this help and exit.")
            .build());
  }

  public static OptionSpec flag(String description, String... names) {
    return OptionSpec.builder(names)
        .type(boolean.class)
        .arity("0")
        .description(description)
        .build();
  }

  public static OptionSpec value(String label, String description, String... names) {
    return OptionSpec.builder(names)
        .type(String.class)
        .arity("1")
        .paramLabel(label)
        .description(description)
        .build();
  }

  public static OptionSpec store() {
    return value(
        "URL",
        "The store, such as sqlite:/path/to/file. Default: PAWL_STORE, ./pawl.properties, the"
            + " user's pawl.properties, or a file in the user's state directory. A URL with a"
            + " password is refused here, where others can read it.",
        "--store");
  }

  public static OptionSpec json(String description) {
    return flag(description, "--json");
  }

  public static PositionalParamSpec lockName() {
    return PositionalParamSpec.builder()
        .index("0")
        .arity("1")
        .type(String.class)
        .paramLabel("NAME")
        .description("The lock: 1 to 512 bytes of UTF-8 without control characters.")
        .build();
  }
}

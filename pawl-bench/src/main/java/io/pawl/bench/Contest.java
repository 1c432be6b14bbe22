package io.pawl.bench;

import java.util.List;

/** Rivals under one load. */
public record Contest(String title, Load load, List<String> rivals, List<Target> targets) {}

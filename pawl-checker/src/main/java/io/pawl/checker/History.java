package io.pawl.checker;

import java.util.List;

/**
 * All that a run saw.
 *
 * @param tenures every lease
 * @param waits every request for a lock, those of {@code tenures} among them or not
 * @param encounters what a referee saw
 * @param writes to resources that check tokens
 * @param takes from counters
 * @param stocks of those counters
 * @param faults when something was broken on purpose, each with the time that it takes to get over
 *     it
 */
public record History(
    List<Tenure> tenures,
    List<Wait> waits,
    List<Encounter> encounters,
    List<Write> writes,
    List<Take> takes,
    List<Stock> stocks,
    List<Span> faults) {

  public static final History EMPTY =
      new History(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of());

  public History {
    tenures = List.copyOf(tenures);
    waits = List.copyOf(waits);
    encounters = List.copyOf(encounters);
    writes = List.copyOf(writes);
    takes = List.copyOf(takes);
    stocks = List.copyOf(stocks);
    faults = List.copyOf(faults);
  }

  public History withTenures(List<Tenure> others) {
    return new History(others, waits, encounters, writes, takes, stocks, faults);
  }

  public History withWaits(List<Wait> others) {
    return new History(tenures, others, encounters, writes, takes, stocks, faults);
  }

  public History withEncounters(List<Encounter> others) {
    return new History(tenures, waits, others, writes, takes, stocks, faults);
  }

  public History withWrites(List<Write> others) {
    return new History(tenures, waits, encounters, others, takes, stocks, faults);
  }

  public History withTakes(List<Take> others, List<Stock> theirs) {
    return new History(tenures, waits, encounters, writes, others, theirs, faults);
  }

  public History withFaults(List<Span> others) {
    return new History(tenures, waits, encounters, writes, takes, stocks, others);
  }

  /**
   * Returns how long nothing was broken while somebody waited or was served, in stretches of more
   * than {@code boundNanos}; 0 means that no wait of that length can be judged.
   */
  public long calmNanos(long boundNanos) {
    long from = waits.stream().mapToLong(wait -> wait.span().from()).min().orElse(Long.MAX_VALUE);
    long until =
        waits.stream()
            .mapToLong(wait -> wait.span().until())
            .filter(end -> end != Span.OPEN)
            .max()
            .orElse(Long.MIN_VALUE);
    long calm = 0;
    for (Span fault : Span.merged(faults)) {
      calm += stretch(from, Math.min(until, fault.from()), boundNanos);
      from = Math.max(from, fault.until());
    }
    return calm + stretch(from, until, boundNanos);
  }

  private static long stretch(long from, long until, long boundNanos) {
    return from < until && until - from > boundNanos ? until - from : 0;
  }
}

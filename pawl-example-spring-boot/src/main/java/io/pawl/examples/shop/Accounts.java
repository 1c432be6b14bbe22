package io.pawl.examples.shop;

import io.pawl.spring.Leases;
import io.pawl.spring.Locked;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Accounts that are read, changed by Java code, and written back, by one instance at a time. */
@Service
class Accounts {

  private final JdbcClient database;

  Accounts(JdbcClient database) {
    this.database = database;
  }

  record Withdrawal(long account, long balance, long token) {}

  /** Commits only while nobody has held the account's lock after this call. */
  @Locked(name = "account:#{#id}", fenced = true)
  @Transactional
  public Withdrawal withdraw(long id, long amount) {
    long balance = balance(id);
    if (amount <= 0 || amount > balance) {
      throw new IllegalArgumentException(
          "account " + id + " has " + balance + "; withdraw 1 to " + balance + ", not " + amount);
    }
    database
        .sql("UPDATE account SET balance = :balance WHERE id = :id")
        .param("balance", balance - amount)
        .param("id", id)
        .update();
    return new Withdrawal(id, balance - amount, Leases.current().token());
  }

  long balance(long id) {
    return database
        .sql("SELECT balance FROM account WHERE id = :id")
        .param("id", id)
        .query(Long.class)
        .optional()
        .orElseThrow(() -> new IllegalArgumentException("there is no account " + id));
  }
}

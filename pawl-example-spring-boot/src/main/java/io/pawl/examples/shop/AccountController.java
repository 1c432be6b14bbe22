package io.pawl.examples.shop;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Withdrawals by HTTP. */
@RestController
class AccountController {

  private final Accounts accounts;

  AccountController(Accounts accounts) {
    this.accounts = accounts;
  }

  @PostMapping("/accounts/{id}/withdrawals")
  Accounts.Withdrawal withdraw(@PathVariable long id, @RequestParam long amount) {
    return accounts.withdraw(id, amount);
  }

  @ExceptionHandler
  ProblemDetail refused(IllegalArgumentException e) {
    return ProblemDetail.forStatusAndDetail(HttpStatus.UNPROCESSABLE_CONTENT, e.getMessage());
  }
}

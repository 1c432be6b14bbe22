package io.pawl.lab.sql;

import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;

/** Correct, and all names queue behind one row. */
public final class S14CentralRow implements Specimen {

  @Override
  public String id() {
    return "S14";
  }

  @Override
  public String title() {
    return "one central row, SELECT … FOR UPDATE, before each named row";
  }

  @Override
  public String origin() {
    return "A published mend of S13.";
  }

  @Override
  public Service service() {
    return Service.MYSQL;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    return CentralCost.of(stage, 1, stage.name() + "-a", stage.name() + "-b");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    return CentralCost.ofPawl(stage, stage.name() + "-a", stage.name() + "-b");
  }
}

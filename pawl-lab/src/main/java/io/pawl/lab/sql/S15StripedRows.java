package io.pawl.lab.sql;

import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;

/** Correct, and names that have nothing to do with each other still share a row. */
public final class S15StripedRows implements Specimen {

  private static final int ROWS = 100;

  @Override
  public String id() {
    return "S15";
  }

  @Override
  public String title() {
    return "S14 with 100 central rows, by CRC32 of the name";
  }

  @Override
  public String origin() {
    return "A published mend of S14.";
  }

  @Override
  public Service service() {
    return Service.MYSQL;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    String name = stage.name() + "-a";
    return CentralCost.of(stage, ROWS, name, collidingWith(name, stage));
  }

  private static String collidingWith(String name, Stage stage) throws Exception {
    CentralTable rows = new CentralTable(stage.mysql(), ROWS);
    for (int i = 0; ; i++) {
      if (rows.central(stage.name() + "-" + i).equals(rows.central(name))) {
        return stage.name() + "-" + i;
      }
    }
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    String name = stage.name() + "-a";
    return CentralCost.ofPawl(stage, name, collidingWith(name, stage));
  }
}

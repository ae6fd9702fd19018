import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

/**
 * Prints whom Elastic-Job's strategies give each item, by their documented rules and Java's own string hash: a line for
 * each strategy, job name and instant, with a digest for each number of nodes over the rows of 0 to 40 items.
 */
public class ShardTables {
  static final String[] STRATEGIES = {"avgAllocation", "odevity", "roundRobin", "singleShardingBalance"};
  static final String[] JOBS = {"a", "b", "hello", "billing", "polygenelubricants", "za\u017c\u00f3\u0142\u0107"};
  static final long[] INSTANTS = {0L, 1L, 1_700_000_000_123L};
  static final int NODES_MAX = 12;
  static final int ITEMS_MAX = 40;

  public static void main(String[] args) throws Exception {
    for (String strategy : STRATEGIES) {
      for (String job : JOBS) {
        for (long now : INSTANTS) {
          if (now != 0 && !strategy.equals("singleShardingBalance")) continue;
          System.out.println(line(strategy, job, now));
        }
      }
    }
  }

  static String line(String strategy, String job, long now) throws Exception {
    List<String> digests = new ArrayList<>();
    for (int count = 1; count <= NODES_MAX; count++) {
      List<String> nodes = new ArrayList<>();
      for (int node = 0; node < count; node++) nodes.add("node-" + (char) ('a' + node));
      StringBuilder rows = new StringBuilder();
      for (int items = 0; items <= ITEMS_MAX; items++) {
        rows.append(String.join(" ", average(ordered(strategy, nodes, job, now), items))).append('\n');
      }
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(rows.toString().getBytes(StandardCharsets.UTF_8));
      digests.add("\"" + HexFormat.of().formatHex(digest).substring(0, 16) + "\"");
    }
    StringBuilder name = new StringBuilder();
    for (char unit : job.toCharArray()) {
      name.append(unit < 128 ? String.valueOf(unit) : String.format("\\u%04x", (int) unit));
    }
    return String.format("{\"strategy\":\"%s\",\"job\":\"%s\",\"hash\":%d,\"nowMs\":%d,\"digests\":[%s]}",
        strategy, name, job.hashCode(), now, String.join(",", digests));
  }

  /** The order in which nodes get their shares. */
  static List<String> ordered(String strategy, List<String> nodes, String job, long now) {
    List<String> all = new ArrayList<>(nodes);
    int hash = job.hashCode();
    switch (strategy) {
      case "odevity":
        if (Math.abs((long) hash) % 2 == 0) Collections.reverse(all);
        break;
      case "roundRobin":
        Collections.rotate(all, -offset(hash, all.size()));
        break;
      case "singleShardingBalance":
        Collections.rotate(all, -offset(hash + (int) now, all.size()));
        break;
      default:
    }
    return all;
  }

  /** By a long: the absolute value of the least int is no int, which is where the strategies fail in Java. */
  static int offset(int by, int count) {
    return (int) (Math.abs((long) by) % count);
  }

  /** As many items in order for each node; those that are left go to the first nodes, one each. */
  static List<String> average(List<String> nodes, int items) {
    List<String> owners = new ArrayList<>();
    int share = items / nodes.size();
    for (String node : nodes) owners.addAll(Collections.nCopies(share, node));
    owners.addAll(nodes.subList(0, items % nodes.size()));
    return owners;
  }
}

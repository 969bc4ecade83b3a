import io.temporal.testserver.TestServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Many virtual-time test servers in one warm Java process, which saves more than a second for each. Prints the port of its
 * door and ends with its stdin. A client that connects and sends a port gets its own server there, with its own
 * time, until it hangs up; see guest.sh.
 */
public class Host {
  public static void main(String[] args) throws Exception {
    start(Host::endWithStdin);
    try (ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      System.out.println(door.getLocalPort());
      while (true) {
        Socket guest = door.accept();
        start(() -> serve(guest));
      }
    }
  }

  private static void serve(Socket guest) {
    try (guest;
        BufferedReader lines = new BufferedReader(new InputStreamReader(guest.getInputStream()))) {
      String port = lines.readLine();
      if (port == null || !port.matches("[0-9]{1,5}")) return; // somebody who took us for another
      try (var server = TestServer.createPortBoundServer(Integer.parseInt(port))) {
        lines.readLine();
      }
    } catch (Exception failure) {
      // The client sees that its server is not there, or it went away while hanging up.
      System.err.println(failure);
    }
  }

  private static void endWithStdin() {
    try {
      while (System.in.read() >= 0) {}
    } catch (Exception closed) {
      // Counts as its end.
    }
    Runtime.getRuntime().halt(0);
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    thread.start();
  }
}

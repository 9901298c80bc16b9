package words;

import static org.junit.Assert.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.Test;

public class WordsTest {
  @Test
  public void counts() {
    assertEquals(3, Words.count(" three small words "));
    assertEquals(0, Words.count(" "));
  }

  @Test
  public void inAThread() throws Exception {
    assertEquals(2, (int) CompletableFuture.supplyAsync(() -> Words.count("two words")).get());
  }

  @Test
  public void aTemporaryFile() throws Exception {
    Path file = Files.createTempFile("words", ".txt");
    Files.writeString(file, "one");
    assertEquals(1, Words.count(Files.readString(file)));
    Files.delete(file);
  }

  @Test
  public void aProgram() throws Exception {
    assertEquals(7, new ProcessBuilder("sh", "-c", "exit 7").start().waitFor());
  }
}

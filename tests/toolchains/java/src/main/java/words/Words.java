package words;

/** Counts words. */
public final class Words {
  private Words() {}

  /** The number of words in a text. */
  public static int count(String text) {
    return text.isBlank() ? 0 : text.strip().split("\\s+").length;
  }
}

/* The number of words in a text. */
unsigned count_words(const char* text);

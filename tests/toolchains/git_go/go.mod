module example.org/words

"""The number of words in a text."""


def count_words(text):
    return len(text.split())

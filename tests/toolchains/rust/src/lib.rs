/// The number of words in a text.
///
/// ```
/// assert_eq!(words::count_words("three small words"), 3);
/// ```
pub fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[cfg(test)]
mod tests {
    #[test]
    fn in_a_thread() {
        let thread = std::thread::spawn(|| super::count_words("two words"));
        assert_eq!(thread.join().unwrap(), 2);
    }
}

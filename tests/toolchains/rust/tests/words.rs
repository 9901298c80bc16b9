use std::process::Command;

#[test]
fn a_program_and_a_temporary_file() {
    let file = std::env::temp_dir().join("words");
    std::fs::write(&file, "three small words").unwrap();
    let out = Command::new("cat").arg(&file).output().unwrap();
    assert_eq!(words::count_words(std::str::from_utf8(&out.stdout).unwrap()), 3);
    assert_eq!(env!("WORDS_BUILT"), "yes");
}

// Build scripts are programs of their own.
fn main() {
    println!("cargo:rustc-env=WORDS_BUILT=yes");
}

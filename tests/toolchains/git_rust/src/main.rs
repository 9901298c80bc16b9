fn main() { println!("{}", up::VERSION); }

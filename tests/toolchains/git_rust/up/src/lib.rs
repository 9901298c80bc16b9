pub const VERSION: &str = "version 1";

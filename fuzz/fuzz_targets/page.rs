//! Any page of a database, with a checksum that holds: whatever is asked then gives an answer or an error.
//!
//! The input's form stands in `src/page.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    hopdb_fuzz::page::run(input);
});

//! The two header slots of a database, with checksums that hold or not: whatever is asked then gives an answer or an error.
//!
//! The input's form stands in `src/header.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    hopdb_fuzz::header::run(input);
});

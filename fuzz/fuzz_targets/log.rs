//! A log of made-up records with checksums that hold, or of any bytes: whatever is asked then gives an answer or an error.
//!
//! The input's form stands in `src/log.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    hopdb_fuzz::log::run(input);
});

//! meta.json: what is read is written so that it reads the same.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use qa_pilot::files;
use qa_pilot::host::meta::Meta;

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("meta.json");
    if let Ok(meta) = Meta::parse(path, bytes) {
        let again = files::json_bytes(&meta).expect("plain data serializes");
        assert_eq!(Meta::parse(path, &again).expect("our own bytes"), meta);
    }
});

//! Lists the files of `proxy-rules/`, so that a new pack is one YAML file and no Rust.

#![expect(
    clippy::disallowed_methods,
    reason = "the folder is cargo's, and a half-written file there fails the build"
)]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=proxy-rules");
    println!("cargo:rerun-if-changed=src/build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut packs = Vec::new();
    for entry in fs::read_dir(root.join("proxy-rules"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            packs.push(path);
        }
    }
    packs.sort();
    let lines: String = packs
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            format!("    ({name:?}, include_str!({path:?})),\n")
        })
        .collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(Path::new(&out).join("packs.rs"), format!("&[\n{lines}]\n"))
}
